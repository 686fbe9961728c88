"""Several hosts, reached by SSH or made of network namespaces, and which node runs where."""
