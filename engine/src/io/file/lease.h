#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

// Who writes a folder, where no lock does: over sshfs, Lustre and others flock(2) holds within one
// machine alone, or not at all.
//
// A lease is the file lease.N with the highest N in the folder. Its holder made it, which the file
// system lets one program do alone (O_EXCL), and renews it from time to time by renaming another
// over it. A holder of this machine is gone when its process is. One elsewhere is gone when its
// file has not changed for a while by the reader's own clock, since clocks and caches of two
// machines differ; lease.N+1 then takes its place. A holder that was asleep finds that before it
// writes on.
namespace engine {

/// A text that no other program makes.
std::string random_id();

/// A process, and where it runs.
struct LeaseHolder {
    std::string host = {};
    std::string boot = {};           ///< this start of the machine's system
    std::int64_t pid_namespace = 0;  ///< of containers of one machine
    std::int64_t process = 0;
    std::int64_t started = 0;  ///< ticks after the start of the system
    static LeaseHolder self();
};

/// Times and clocks of leases. Tests shorten the times and move the clocks.
struct LeaseRules {
    using Seconds = std::chrono::duration<double>;
    Seconds renewal{10};   ///< between two renewals
    Seconds patience{90};  ///< a lease of another machine that has not changed for so long is free
    /// After a renewal the holder writes for so long without another look. The rest of `patience`
    /// is for what it has begun to write, and for what a reader has not seen yet.
    Seconds trust{60};
    std::function<double()> reader_clock;  ///< seconds; stands still while the machine sleeps
    std::function<double()> holder_clock;  ///< seconds; goes on while the machine sleeps
    std::function<LeaseHolder()> self = &LeaseHolder::self;

    /// The rules of this process.
    static const LeaseRules& standard();
    /// Takes the place of standard() until it is called with null. For tests.
    static void replace(const LeaseRules* rules);
};

/// The state in which a reader has seen the lease of another machine, and since when. It may be
/// kept from one program to the next one.
struct LeaseSighting {
    std::string content;  ///< name and text of the file
    std::string boot;     ///< of the reader, whose clock begins anew with it
    double since = 0;     ///< by LeaseRules::reader_clock
    bool operator==(const LeaseSighting&) const = default;
};

/// Who holds a folder now.
struct LeaseState {
    bool present = false;  ///< there is a lease, held or left by a process that is gone
    bool held = false;
    /// Host of a holder whose process this one cannot look at: on another machine or in another
    /// container. Empty for one of this machine.
    std::string host = {};
    std::int64_t process = 0;
    double silent_s = 0;  ///< seconds for which a lease of another machine did not change
    std::string id = {};        ///< of the lease, which no other one has
    std::string activity = {};  ///< as Lease::show() got it; empty until then
    std::string answered = {};  ///< as Lease::answer() got it last
};

/// Reads the lease of a folder, and keeps in `seen` what has changed since the last look.
LeaseState look_at_lease(const std::filesystem::path& folder, LeaseSighting& seen,
                         const LeaseRules& rules = LeaseRules::standard());

/// A lease that this process holds; a thread renews it. Thread-safe.
class Lease {
public:
    /// Takes the lease of a folder; null if another holds it, which `state` then describes. Throws
    /// Error(io) if it cannot be written.
    static std::unique_ptr<Lease> try_take(const std::filesystem::path& folder, LeaseSighting& seen,
                                           LeaseState& state,
                                           const LeaseRules& rules = LeaseRules::standard());
    /// Releases it.
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// To be called before each write: throws Error(state) if another program has taken the lease.
    /// Looks at the file only where the last renewal is too long ago, as after a sleep; throws
    /// Error(io) if that cannot be done. Cheap otherwise.
    void check();
    /// Another program has taken it, as far as is known without a look.
    bool is_lost() const { return lost_.load(std::memory_order_acquire); }
    /// Frees it. Harmless when it was released or lost.
    void release();

    const std::string& id() const { return id_; }
    /// Other programs find these texts in its file. Its thread writes them at once.
    void show(const std::string& activity);
    void answer(const std::string& request);

private:
    enum class Standing { ours, lost, unknown };

    Lease(std::filesystem::path folder, std::int64_t number, std::string id,
          const LeaseRules& rules, double taken);
    void run();
    Standing renew();
    Standing standing() const;
    std::filesystem::path file() const;
    void lose();
    [[noreturn]] void throw_lost() const;

    const std::filesystem::path folder_;
    const std::int64_t number_;
    const std::string id_;
    const LeaseRules rules_;
    std::atomic<double> renewed_at_;  ///< by the holder's clock
    std::atomic<bool> lost_{false};
    std::mutex mutex_;  ///< guards the file and the rest
    std::condition_variable changed_;
    std::int64_t renewals_ = 0;
    std::string activity_, answered_;
    bool has_news_ = false;
    bool ending_ = false;
    bool released_ = false;
    std::thread thread_;
};

}  // namespace engine
