"""The life of sources of tools: read, looked at by the gate, admitted or kept out, watched."""
