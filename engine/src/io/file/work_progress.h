#pragma once

#include <cstdint>

#include "engine/io/work_scope.h"

namespace engine {

/// Tells the scope of this thread, if there is one, how much of the work is done. Throws what its
/// watcher throws.
void report_work(double share);
/// Calls the watcher with the last share again, so that it can give the work up in between.
void poll_work();

/// The share that this thread reported last; 0 without a scope.
double reported_work();

/// Counts pieces of work, such as bytes or rows, towards a total.
class WorkCount {
public:
    explicit WorkCount(std::uint64_t total) : total_(total) {}
    void add(std::uint64_t pieces) {
        done_ += pieces;
        if (total_ > 0) report_work(static_cast<double>(done_) / static_cast<double>(total_));
    }

private:
    std::uint64_t total_;
    std::uint64_t done_ = 0;
};

/// Counts pieces towards what is left of the work when it is made: shares never go back.
class RestOfWork {
public:
    explicit RestOfWork(std::uint64_t total) : total_(total), from_(reported_work()) {}
    void add(std::uint64_t pieces) {
        done_ += pieces;
        if (total_ == 0) return;
        const double part = static_cast<double>(done_) / static_cast<double>(total_);
        report_work(from_ + (1 - from_) * part);
    }

private:
    std::uint64_t total_;
    double from_;
    std::uint64_t done_ = 0;
};

}  // namespace engine
