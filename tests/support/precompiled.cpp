// Empty: compiled only for the headers that every test precompiles (tests/CMakeLists.txt).
