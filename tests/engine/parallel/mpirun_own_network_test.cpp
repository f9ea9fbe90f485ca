#include "parallel/mpirun.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "temp_folder.h"

namespace engine {
namespace {

/// The interfaces of this process's network.
std::set<std::string> interfaces() {
    std::ifstream file("/proc/self/net/dev");
    std::set<std::string> out;
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (colon != std::string::npos)
            out.insert(
                line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' ')));
    }
    return out;
}

/// Whether two ends meet over the loopback interface.
bool connects() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    const int server = ::socket(AF_INET, SOCK_STREAM, 0),
              client = ::socket(AF_INET, SOCK_STREAM, 0);
    return ::bind(server, place, size) == 0 && ::listen(server, 1) == 0 &&
           ::getsockname(server, place, &size) == 0 && ::connect(client, place, size) == 0;
}

TEST(OwnNetwork, HasTheLoopbackInterfaceAloneAndTheSameUser) {
    const OwnNetwork network;
    const uid_t user = ::geteuid();
    const pid_t child = ::fork();
    if (child == 0) {
        if (!network.enter()) ::_exit(77);
        const bool right =
            interfaces() == std::set<std::string>{"lo"} && connects() && ::geteuid() == user;
        ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this system allows no network namespaces";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(OwnNetwork, IsNotForARunThatMayHaveOtherMachines) {
    for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_JOBID",
                             "PBS_NODEFILE", "LSB_JOBID", "LSB_HOSTS", "PE_HOSTFILE",
                             "OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE"})
        ::unsetenv(name);
    EXPECT_TRUE(stays_on_this_machine());
    for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE",
                             "OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE"}) {
        ::setenv(name, "", 1);
        EXPECT_TRUE(stays_on_this_machine()) << name;
        ::setenv(name, "5", 1);
        EXPECT_FALSE(stays_on_this_machine()) << name;
        ::unsetenv(name);
    }
    ::setenv("SLURM_JOB_ID", "5", 1);
    ::setenv("SLURM_JOB_NUM_NODES", "1", 1);
    EXPECT_TRUE(stays_on_this_machine());
    ::setenv("SLURM_JOB_NUM_NODES", "2", 1);
    EXPECT_FALSE(stays_on_this_machine());
    ::unsetenv("SLURM_JOB_NUM_NODES");
    ::unsetenv("SLURM_JOB_ID");
}

TEST(FindMpirun, TakesTheLaunchersOfTheLibraryFromTheFirstFolderThatHasOne) {
    const test_support::TempFolder folder;
    const auto add = [&](const std::string& name) {
        std::filesystem::create_directories((folder / name).parent_path());
        std::ofstream(folder / name) << "#!/bin/sh\n";
        std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
        return (folder / name).string();
    };
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", (folder.str() + "/own:" + folder.str() + "/system").c_str(), 1);
    EXPECT_EQ(find_mpirun("MPICH 4.0.2"), "");
    const std::string plain = add("system/mpirun"), of_mpich = add("system/mpirun.mpich"),
                      of_open_mpi = add("system/mpirun.openmpi");
    EXPECT_EQ(find_mpirun("MPICH 4.0.2"), of_mpich);
    EXPECT_EQ(find_mpirun("Open MPI v4.1.4"), of_open_mpi);
    std::filesystem::remove(of_mpich);
    EXPECT_EQ(find_mpirun("MPICH 4.0.2"), plain);
    const std::string own = add("own/mpirun");
    EXPECT_EQ(find_mpirun("Open MPI v4.1.4"), own);
    ::setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace engine
