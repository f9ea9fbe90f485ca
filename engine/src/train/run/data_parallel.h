#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace engine {

class Communicator;

/// The ranks of a data-parallel run as its loop sees them: rank 0 sends what comes next, and the
/// others do the same. In one process nothing is sent. All calls throw Error(training) if a rank is
/// lost. One thread.
class RunRanks {
public:
    /// Requests of rank 0 to the others.
    enum class Order : std::int64_t {
        step,
        begin_evaluation,
        evaluate,
        end_epoch,
        save,
        count,
        end
    };

    /// `line`: null in one process; must outlive it.
    explicit RunRanks(Communicator* line) : line_(line) {}

    /// Null in one process.
    Communicator* line() const { return line_; }
    /// 1 in one process.
    int size() const;
    /// This process is not rank 0.
    bool follows() const;

    /// On rank 0: to the others. Nothing to do on these.
    void send(Order order) const;
    /// On the others: calls obey(order) until the order is Order::end.
    void follow(const std::function<void(Order)>& obey) const;
    /// Replaces the number by that of rank 0.
    void share(double& number) const;

    /// On rank 0, once: the run has ended. With a `failure`, or before the others are `prepared` to
    /// receive orders, their calls throw; else they end after send_last(). Throws nothing: a lost
    /// rank needs no order.
    void leave(const std::string& failure, bool prepared, const std::function<void()>& send_last);

private:
    Communicator* line_;
    bool left_ = false;
};

}  // namespace engine
