import helper

helper.run()
