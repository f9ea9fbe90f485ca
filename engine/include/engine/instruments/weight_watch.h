#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// One stored number of a parameter in one step: what the optimizer began with and what it left.
struct WeightChange {
    std::int64_t step = 0;  ///< from 1
    double before = 0;      ///< as the model stores it (in 16 bits: the 16-bit value)
    double after = 0;
    double master_before = 0;  ///< of the FP32 master; NaN without masters
    double master_after = 0;
    double gradient = 0;  ///< unscaled
    double lr = 0;
};

/// Follows one element of a parameter through the steps of a run. Written by the compute thread,
/// readable by any thread. Does not change the training.
class WeightWatch {
public:
    /// `index`: one number a dimension of the parameter.
    WeightWatch(std::string parameter, std::vector<std::int64_t> index);

    const std::string& parameter() const { return parameter_; }
    const std::vector<std::int64_t>& index() const { return index_; }
    /// "fp16", "fp32": of the stored parameter; empty before the first step.
    std::string dtype() const;
    /// Why there is nothing to follow: the model has no such parameter or element; empty otherwise.
    std::string problem() const;
    std::optional<WeightChange> at(std::int64_t step) const;
    std::int64_t size() const;

    // For the observer that writes.
    void begin(std::string dtype);
    void refuse(std::string problem);
    void append(const WeightChange& change);

private:
    const std::string parameter_;
    const std::vector<std::int64_t> index_;
    mutable std::mutex mutex_;
    std::string dtype_, problem_;
    std::vector<WeightChange> changes_;  ///< steps ascending
};

}  // namespace engine
