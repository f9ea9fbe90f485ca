#include <array>
#include <mutex>
#include <string_view>
#include <vector>

#include "parallel/joined_launch.h"
#include "parallel/mpi_api.h"
#include "parallel/mpi_thread.h"

namespace engine {
namespace {

/// Numbers lines in the order in which they are made, which is the same on all ranks.
class Lines {
public:
    explicit Lines(std::shared_ptr<MpiThread> mpi) : mpi_(std::move(mpi)) {}
    MpiThread& mpi() const { return *mpi_; }
    int next_tag() {
        const std::lock_guard lock(mutex_);
        return next_tag_++;
    }

private:
    std::shared_ptr<MpiThread> mpi_;
    std::mutex mutex_;
    int next_tag_ = MpiThread::first_line_tag;
};

class MpiCommunicator final : public Communicator {
public:
    explicit MpiCommunicator(std::shared_ptr<Lines> lines)
        : lines_(std::move(lines)), mpi_(lines_->mpi()), tag_(lines_->next_tag()) {}

    int rank() const override { return mpi_.rank(); }
    int size() const override { return mpi_.ranks(); }
    int local_rank() const override { return mpi_.local_rank(); }

    void broadcast(kernels::Array data) override {
        MpiBroadcast operation(rank(), size(), tag_, data);
        mpi_.run(operation);
    }
    void sum(kernels::Array data) override {
        MpiSum operation(rank(), size(), tag_, data, received_);
        mpi_.run(operation);
    }
    void gather(kernels::Array all, kernels::ConstArray part,
                std::span<const std::int64_t> counts) override {
        MpiGather operation(rank(), size(), tag_, all, part, counts);
        mpi_.run(operation);
    }
    void barrier() override {
        std::int64_t one = 1;
        sum({&one, kernels::DType::i64, 1});
    }

    std::unique_ptr<Communicator> line() override {
        return std::make_unique<MpiCommunicator>(lines_);
    }
    void abort(const std::string& sentence) noexcept override { mpi_.fail(Message(sentence)); }
    void when_lost(std::function<void(const Message&)> act) override {
        mpi_.when_lost(std::move(act));
    }

private:
    std::shared_ptr<Lines> lines_;
    MpiThread& mpi_;
    int tag_;
    std::vector<std::byte> received_;  // of the MPI thread
};

class MpiLaunch final : public JoinedLaunch {
public:
    std::shared_ptr<Communicator> first_line() override { return line_; }
    int leave(int exit_code) override { return mpi_->leave(exit_code); }
    bool speaks() override { return mpi_->speaks(); }

private:
    std::shared_ptr<MpiThread> mpi_ = std::make_shared<MpiThread>();
    std::shared_ptr<Communicator> line_ =
        std::make_shared<MpiCommunicator>(std::make_shared<Lines>(mpi_));
};

}  // namespace

std::shared_ptr<JoinedLaunch> join_launch() { return std::make_shared<MpiLaunch>(); }

// The first line of what the library says of itself, without what follows a comma: "Open MPI
// v4.1.4"; "MPICH Version:", a tab and the number are made "MPICH 4.0.2". MPI allows this call
// before it is initialised.
std::string mpi_name() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    mpi().get_library_version(text.data(), &length);
    const std::string all(text.data(), static_cast<std::size_t>(length));
    const std::string name = all.substr(0, all.find_first_of(",\n"));
    const std::string_view mpich = "MPICH Version:";
    if (!name.starts_with(mpich)) return name;
    const std::size_t number = name.find_first_not_of(" \t", mpich.size());
    return number == std::string::npos ? "MPICH" : "MPICH " + name.substr(number);
}

}  // namespace engine
