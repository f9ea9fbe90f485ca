#include "cuda/library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cuda/nccl_api.h"
#include "kernels/device_error.h"
#include "kernels/rank_group.h"
#include "temp_folder.h"

namespace kernels::cuda {
namespace {

namespace fs = std::filesystem;
using test_support::TempFolder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Sets an environment variable and restores it at the end.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        const char* before = std::getenv(name);
        if (before) before_ = before;
        set(value);
    }
    ~Variable() { set(before_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    void set(const std::string& value) {
        value.empty() ? unsetenv(name_) : setenv(name_, value.c_str(), 1);
    }
    const char* name_;
    std::string before_;
};

std::string make(const fs::path& folder) {
    fs::create_directories(folder);
    return folder.string();
}

TEST(CudaLibrary, LooksWhereThePersonSaysFirst) {
    const TempFolder temp;
    const std::string one = make(temp.path() / "one"), two = make(temp.path() / "two");
    const Variable variable("HALFTONE_CUDA_LIBS", one + ":" + two + ":/not/there");
    const auto folders = library_folders();
    ASSERT_GE(folders.size(), 2u);
    EXPECT_EQ(folders[0], one);
    EXPECT_EQ(folders[1], two);
    EXPECT_THAT(folders, Not(Contains("/not/there")));
}

TEST(CudaLibrary, LooksInsideTheWheelsOfAPythonEnvironment) {
    const TempFolder temp;
    const fs::path packages = temp.path() / "lib/python3.13/site-packages/nvidia";
    const std::string cu13 = make(packages / "cu13/lib"), cudnn = make(packages / "cudnn/lib"),
                      nccl = make(packages / "nccl/lib"), nvtx = make(packages / "nvtx/lib"),
                      run_time = make(packages / "cuda_runtime/lib"),
                      nvjpeg = make(packages / "nvjpeg/lib");
    const Variable variable("VIRTUAL_ENV", temp.path().string());
    EXPECT_THAT(library_folders(), Contains(nvtx));
    EXPECT_THAT(library_folders(), Contains(run_time));
    EXPECT_THAT(library_folders(), Contains(nvjpeg));
    EXPECT_THAT(library_folders(), Contains(cu13));
    EXPECT_THAT(library_folders(), Contains(cudnn));
    EXPECT_THAT(library_folders(), Contains(nccl));
}

TEST(CudaLibrary, LooksInsideTheWheelsOfThePythonOnThePath) {
    const TempFolder temp;
    const std::string bin = make(temp.path() / "bin");
    std::ofstream(bin + "/python3") << "";
    const std::string cublas = make(temp.path() / "lib/python3.9/site-packages/nvidia/cublas/lib");
    const Variable variable("PATH", bin + ":/usr/bin");
    EXPECT_THAT(library_folders(), Contains(cublas));
}

TEST(CudaLibrary, SaysWhereItLookedForWhatIsNotThere) {
    const Library library = open_library("cuNothing", {"libcunothing.so.1"}, {"/some/where"});
    EXPECT_FALSE(library.info.found);
    EXPECT_THAT(library.info.searched, ElementsAre("the system's folders", "/some/where"));
    EXPECT_FALSE(library.info.problem.empty());
    try {
        library.function("cuNothingCreate");
        FAIL() << "found it";
    } catch (const DeviceError& error) {
        EXPECT_THAT(error.what(), HasSubstr("cuNothing is not installed"));
        EXPECT_THAT(error.what(), HasSubstr("/some/where"));
        EXPECT_THAT(error.what(), HasSubstr("HALFTONE_CUDA_LIBS"));
    }
}

TEST(CudaLibrary, SaysWhatIsWrongWithAFileThatDoesNotLoad) {
    const TempFolder temp;
    std::ofstream(temp.path() / "libbroken.so.1") << "no library";
    const Library library =
        open_library("broken", {"libbroken.so.1"}, {"/some/where", temp.path().string()});
    EXPECT_FALSE(library.info.found);
    EXPECT_THAT(library.info.problem, HasSubstr(temp.path().string()));
}

TEST(CudaLibrary, TakesTheFirstNameThatIsThere) {
    const Library library = open_library("libc", {"libc.so.99", "libc.so.6"}, {"/some/where"});
    EXPECT_TRUE(library.info.found);
    EXPECT_NE(library.function("getenv"), nullptr);
    EXPECT_THROW(library.function("no_such_function"), DeviceError);
}

TEST(CudaLibrary, TriesTheSonameOfItsOwnMajorVersionFirst) {
    EXPECT_THAT(sonames("liba.so", 13), ElementsAre("liba.so.13", "liba.so.12"));
    EXPECT_THAT(sonames("liba.so", 12), ElementsAre("liba.so.12", "liba.so.13"));
    EXPECT_EQ(nvtx_names().front(), "libnvtx3interop.so.1") << "wheels have no other";
}

// Stand-ins, of one name as cuDNN's builds for CUDA 12 and 13 are: each loads a part of itself by
// its soname and answers by it.
struct CudnnOfTwoMajors : ::testing::Test {
    const std::vector<std::string> names{"libstand_in_cudnn.so.9"};
    const std::string of_12 = HALFTONE_CUDNN_12, of_13 = HALFTONE_CUDNN_13;
};

TEST_F(CudnnOfTwoMajors, IsTheOneThatIsBuiltForTheOpenCuBlas) {
    const Library twelve = open_cudnn(names, {of_13, of_12}, 12);
    ASSERT_TRUE(twelve.info.found) << twelve.info.problem;
    EXPECT_THAT(twelve.info.path, HasSubstr(of_12));
    EXPECT_EQ(twelve.info.version, "9.19.0");
    EXPECT_EQ(twelve.info.cuda, "12.4") << "of the part that was loaded with a refused one";
    dlclose(twelve.handle);  // else its soname would find it again
}

TEST_F(CudnnOfTwoMajors, IsMissingWithTheReasonWhereAllAreForAnother) {
    const Library none = open_cudnn(names, {of_13}, 12);
    EXPECT_FALSE(none.info.found);
    EXPECT_EQ(none.info.problem, of_13 +
                                     "/libstand_in_cudnn.so.9 is built for CUDA 13.0, and "
                                     "cuBLASLt is of CUDA 12");
}

TEST(CudaLibrary, TellsTheFrontendWhichRunTimeToTake) {
    constexpr const char* name = "CUDNN_FRONTEND_CUDART_LIB_NAME";
    const Variable variable(name, "");
    Library run_time;
    choose_run_time(run_time);
    EXPECT_EQ(std::getenv(name), nullptr) << "none was found";
    run_time = open_library("C", {"libc.so.6"}, {});
    run_time.info.path = "/some/libcudart.so.13";
    choose_run_time(run_time);
    EXPECT_STREQ(std::getenv(name), "/some/libcudart.so.13");
    run_time.info.path = "/another/libcudart.so.12";
    choose_run_time(run_time);
    EXPECT_STREQ(std::getenv(name), "/some/libcudart.so.13") << "the user's choice stays";
}

TEST(CudaLibrary, TellsTheVersionsOfThoseItFinds) {
    std::vector<LibraryInfo> all = libraries();
    all.push_back(rank_library());
    for (const LibraryInfo& info : all) {
        if (info.found)
            EXPECT_THAT(info.version, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"))
                << info.name << " " << info.path;
        else
            EXPECT_FALSE(info.problem.empty()) << info.name;
    }
}

TEST(CudaLibrary, HasACudnnForTheMajorVersionOfItsCuBlas) {
    const auto all = libraries();
    if (!all[0].found || !all[1].found) GTEST_SKIP() << all[0].problem << all[1].problem;
    EXPECT_EQ(std::atoi(all[1].cuda.c_str()), std::atoi(all[0].version.c_str()))
        << all[1].cuda << " " << all[0].version;
}

TEST(CudaLibrary, NcclHasEveryFunctionThatIsUsed) {
    if (!rank_library().found) GTEST_SKIP() << rank_library().problem;
    EXPECT_STREQ(nccl::table().error_text(nccl::success), "no error");
}

}  // namespace
}  // namespace kernels::cuda
