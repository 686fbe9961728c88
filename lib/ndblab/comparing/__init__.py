"""Two configurations of the user's own, compared: `./lab compare`.

Words become sides (`sides`), sides the cheapest design that may change what they differ in
(`choice`), that an experiment made on the fly (`made`), and its dataset an answer (`answer`).
"""
