"""The model compared with what was measured, and with simpler methods.

In: predictions, runs, the CPU use of threads. Out: errors of each method, a speed, coverage of
intervals. It fits no model.

baselines    simpler predictions that the capacity model has to beat
calibration  the speed of one server in another sweep, and the predictions at that speed
errors       predictions compared with measured points and runs
history      how well the model predicted an earlier sweep
"""
