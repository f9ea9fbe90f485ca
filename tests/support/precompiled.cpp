// Carries the headers that every test precompiles (tests/CMakeLists.txt).
