"""What a program does, whatever its author named and however it is laid out: the one form that programs are compared in."""
