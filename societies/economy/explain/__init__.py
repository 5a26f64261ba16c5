"""What happened on a day, and why? The reference reports it while it runs the day again.

The reference decides and gives its reasons; here they are recorded (`events`, `replay`), selected
for one agent (`trace`) or for a whole society (`trade_log`), and put into words (`report`). Nothing
here evaluates a rule of the model.
"""
