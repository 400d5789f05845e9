"""What a reweighed step is made of: its passes, the student's move, the teacher's lesson."""
