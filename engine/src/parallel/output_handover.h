#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <thread>

namespace engine {

/// Gives rank 0 of a run that this program starts the program's own standard output and error
/// (take_handed_output() in engine/parallel/launch.h). Under Open MPI 5 the launcher's forwarding
/// loses pieces of what a rank writes, or sends them to the other stream.
///
/// The ranks may have a network of their own, and a socket that has a name without a file belongs
/// to one network: the child opens it there, and this program listens.
///
/// Rank 0 writes through the launcher if anything of this fails.
class OutputHandover {
public:
    /// Must be made before the fork. The ranks inherit the socket's name in the environment.
    OutputHandover();
    /// Ends the wait for rank 0, which may never have come.
    ~OutputHandover();
    OutputHandover(const OutputHandover&) = delete;
    OutputHandover& operator=(const OutputHandover&) = delete;

    /// In the child, between fork and exec, in the network of the ranks: no allocation. The
    /// launcher inherits no socket.
    void open_in_child() const;
    /// In the parent, right after the fork: waits for the child's exec. From then on another thread
    /// waits for rank 0.
    void serve();

private:
    sockaddr_un address_{};
    socklen_t address_size_ = 0;
    int to_child_ = -1, to_parent_ = -1;  ///< a pair
    int listener_ = -1;
    std::thread server_;
};

}  // namespace engine
