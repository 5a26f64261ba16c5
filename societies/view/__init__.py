"""How is a running workload shown in a browser, and controlled from there?

`renderer` decides which state is rendered next. The page knows pictures, sliders, choices, buttons
and a mouse, and nothing of any workload; `societies.workload.view` has the types between the two.
"""
