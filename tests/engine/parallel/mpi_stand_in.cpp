// A library with all that the program looks up in Open MPI's, by name alone: nothing of it can be called. Another name for one of
// the functions (-DMPI_Testsome=...) makes a library that lacks it.
#define HALFTONE_MPI_FUNCTION(name, symbol) \
    extern "C" void symbol() {}
#define HALFTONE_MPI_OBJECT(type, name, value, symbol) extern "C" const int symbol = 0;
#include "parallel/mpi_api.inc"
