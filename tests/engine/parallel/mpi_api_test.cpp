#include "parallel/mpi_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(OpenMpi, HasEveryFunctionAndObjectOfALibrary) {
    const OpenedMpi opened = open_mpi(HALFTONE_MPI_STAND_IN);
    EXPECT_EQ(opened.problem, "");
    EXPECT_EQ(opened.file, HALFTONE_MPI_STAND_IN);
#define HALFTONE_MPI_FUNCTION(name, symbol) EXPECT_NE(opened.api.name, nullptr) << #symbol;
#define HALFTONE_MPI_OBJECT(type, name, value, symbol) \
    EXPECT_NE(opened.api.name, nullptr) << #symbol;
#include "parallel/mpi_api.inc"
}

TEST(OpenMpi, SaysWhichFunctionALibraryLacks) {
    const OpenedMpi opened = open_mpi(HALFTONE_MPI_LACKING);
    EXPECT_EQ(opened.problem, HALFTONE_MPI_LACKING " has no MPI_Testsome");
    EXPECT_EQ(opened.file, HALFTONE_MPI_LACKING);
}

TEST(OpenMpi, SaysThatThereIsNoLibrary) {
    const OpenedMpi opened = open_mpi("libabsent_mpi.so.40");
    EXPECT_THAT(opened.problem, testing::StartsWith("libabsent_mpi.so.40: "));
    EXPECT_EQ(opened.file, "");
}

}  // namespace
}  // namespace engine
