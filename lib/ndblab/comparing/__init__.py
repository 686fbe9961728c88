"""A comparison of two configurations that the user names: `./lab compare`.

The words typed become two sides (`sides`). Their differences decide the cheapest possible design
(`choice`), which becomes an experiment made on the fly (`made`); its dataset becomes the answer
(`answer`).
"""
