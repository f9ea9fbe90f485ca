#include "parallel/gradient_exchange.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "engine/base/error.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/inplace.h"
#include "parallel/communicator.h"
#include "tensor/layout.h"
#include "tensor/tape.h"

namespace engine {
namespace {

/// Groups parameters into buckets by the rule of optimizers.md#bucketed-data-parallel (4.6): in the
/// order in which the buckets close, and those still open at the end last.
class BucketRule {
public:
    explicit BucketRule(const ExchangeOptions& options) : options_(options) {}

    void add(std::size_t parameter, const Tensor& gradient) {
        Open& open = open_[gradient.dtype()];
        open.parameters.push_back(parameter);
        open.elements += gradient.numel();
        if (closes(parameter, open.elements)) {
            closed_.push_back(std::move(open.parameters));
            open = {};
        }
    }
    std::vector<std::vector<std::size_t>> take() {
        for (auto& [type, open] : open_) {
            if (!open.parameters.empty()) closed_.push_back(std::move(open.parameters));
        }
        return std::move(closed_);
    }

private:
    struct Open {
        std::vector<std::size_t> parameters;
        std::int64_t elements = 0;
    };
    bool closes(std::size_t parameter, std::int64_t elements) const {
        if (options_.delay) return false;
        if (options_.trigger_parameters.empty()) return elements >= options_.message_size;
        return std::ranges::find(options_.trigger_parameters, parameter) !=
               options_.trigger_parameters.end();
    }

    const ExchangeOptions& options_;
    std::map<DType, Open> open_;
    std::vector<std::vector<std::size_t>> closed_;
};

void check(const ExchangeOptions& options, std::size_t parameters) {
    const auto require = [](bool fine, const char* rule) {
        if (!fine) throw Error(ErrorCode::value, rule);
    };
    require(options.message_size > 0, "exchange: message_size must be above 0");
    require(options.lines >= 1, "exchange: there must be a line");
    require(options.predivide > 0, "exchange: predivide must be above 0");
    require(!options.delay || (options.trigger_parameters.empty() && options.lines == 1),
            "exchange: delay goes neither with trigger parameters nor with several lines");
    for (const std::size_t each : options.trigger_parameters)
        require(each < parameters, "exchange: there is no such trigger parameter");
}

/// Buckets as numbers: for each its length and its parameters.
std::vector<std::int64_t> written(const std::vector<std::vector<std::size_t>>& buckets) {
    std::vector<std::int64_t> out;
    for (const auto& bucket : buckets) {
        out.push_back(std::ssize(bucket));
        for (const std::size_t parameter : bucket)
            out.push_back(static_cast<std::int64_t>(parameter));
    }
    return out;
}

std::vector<std::vector<std::size_t>> read(const std::vector<std::int64_t>& numbers) {
    std::vector<std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < numbers.size();) {
        const auto count = static_cast<std::size_t>(numbers[i++]);
        auto& bucket = out.emplace_back();
        for (std::size_t k = 0; k < count; ++k)
            bucket.push_back(static_cast<std::size_t>(numbers[i++]));
    }
    return out;
}

[[noreturn]] void refuse_other_gradients() {
    throw Error(ErrorCode::state,
                "exchange: other parameters have gradients than in the first backward pass");
}

}  // namespace

/// The target of the leaves' hooks, which may outlive the exchange.
class GradientExchange::Hooks {
public:
    explicit Hooks(GradientExchange& owner) : owner_(&owner) {}
    void gradient(std::size_t parameter) const { owner_->on_gradient(parameter); }

private:
    GradientExchange* owner_;
};

GradientExchange::GradientExchange(Communicator& ranks, TensorList parameters,
                                   const ExchangeOptions& options)
    : ranks_(ranks),
      parameters_(std::move(parameters)),
      options_(options),
      hooks_(std::make_shared<Hooks>(*this)),
      bucket_of_(parameters_.size()),
      expected_(parameters_.size()),
      calls_(parameters_.size()) {
    check(options_, parameters_.size());
    for (int i = 0; i < options_.lines; ++i) lines_.push_back(make_exchange_line(ranks_.line()));
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        parameters_[i].register_hook([i, hooks = std::weak_ptr<Hooks>(hooks_)](const Tensor&) {
            if (const auto here = hooks.lock()) here->gradient(i);
        });
    }
}

GradientExchange::~GradientExchange() = default;

bool GradientExchange::has_dense(std::size_t parameter) const {
    const Tensor gradient = parameters_[parameter].grad();
    return gradient.defined() && !gradient.is_sparse();
}

void GradientExchange::begin() {
    active_ = true;
    order_.clear();
    std::ranges::fill(calls_, 0);
    next_ = 0;
    left_.clear();
    for (const auto& bucket : buckets_) left_.push_back(bucket.size());
}

void GradientExchange::on_gradient(std::size_t parameter) {
    if (!active_ || !has_dense(parameter)) return;
    const int calls = ++calls_[parameter];
    if (buckets_.empty()) {
        std::erase(order_, parameter);
        order_.push_back(parameter);
        return;
    }
    // A weight shared by several recomputed blocks gets a gradient from each of them.
    if (calls < expected_[parameter]) return;
    if (calls > expected_[parameter]) {
        throw Error(ErrorCode::state,
                    "exchange: a parameter got its gradient again after it was sent; there was a "
                    "second backward pass in the step");
    }
    --left_[bucket_of_[parameter]];
    if (!options_.delay) send_ready();
}

/// A full bucket waits for all earlier ones, because all ranks must send in the same order.
void GradientExchange::send_ready() {
    while (next_ < buckets_.size() && left_[next_] == 0) send(next_++);
}

void GradientExchange::send(std::size_t bucket) {
    const double share = options_.average ? options_.predivide / ranks_.size() : 1;
    ExchangeBucket out{.in_f32 = options_.in_f32,
                       .before = static_cast<float>(1 / options_.predivide),
                       .after = static_cast<float>(share)};
    for (const std::size_t parameter : buckets_[bucket])
        out.gradients.push_back(parameters_[parameter].grad());
    lines_[bucket % lines_.size()]->send(std::move(out));
}

/// Copies the gradient: one that was set without the tape's hooks may share its memory.
void GradientExchange::own_gradient(std::size_t parameter) const {
    const Tensor& leaf = parameters_[parameter];
    const GradMode off(false);
    leaf.set_grad(assigned_like(leaf.grad(), leaf));
}

std::vector<std::vector<std::size_t>> GradientExchange::own_buckets() const {
    std::vector<std::size_t> order = order_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (calls_[i] == 0 && has_dense(i)) order.push_back(i);
    }
    BucketRule rule(options_);
    for (const std::size_t parameter : order) rule.add(parameter, parameters_[parameter].grad());
    return rule.take();
}

void GradientExchange::share_buckets(std::vector<std::vector<std::size_t>> own) {
    std::vector<std::int64_t> numbers = written(own);
    auto count = static_cast<std::int64_t>(numbers.size());
    ranks_.broadcast({&count, DType::i64, 1});
    numbers.resize(static_cast<std::size_t>(count));
    if (count > 0) ranks_.broadcast({numbers.data(), DType::i64, count});
    buckets_ = read(numbers);
}

void GradientExchange::make_buckets() {
    share_buckets(own_buckets());
    expected_ = calls_;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
        for (const std::size_t parameter : buckets_[bucket]) bucket_of_[parameter] = bucket;
    }
}

void GradientExchange::check_gradients() const {
    std::vector<bool> sent(parameters_.size());
    for (const auto& bucket : buckets_) {
        for (const std::size_t parameter : bucket) sent[parameter] = true;
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (has_dense(i) != sent[i]) refuse_other_gradients();
    }
}

void GradientExchange::finish() {
    for (const auto& line : lines_) line->end_backward();
    active_ = false;
    if (buckets_.empty()) make_buckets();
    check_gradients();
    for (std::size_t bucket = next_; bucket < buckets_.size(); ++bucket) {
        for (const std::size_t parameter : buckets_[bucket]) {
            if (calls_[parameter] == 0) own_gradient(parameter);
        }
        send(bucket);
    }
    const ExchangeTimer dense = wait();
    timer_ = sum_of({dense, gather_sparse()});
}

ExchangeTimer GradientExchange::wait() {
    std::vector<ExchangeTimer> timers;
    for (const auto& line : lines_) timers.push_back(line->wait());
    return sum_of(std::move(timers));
}

/// Its time is the host's: on a GPU the ranks meet there to learn how many entries each has.
ExchangeTimer GradientExchange::gather_sparse() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    for (const Tensor& parameter : parameters_) {
        const Tensor gradient = parameter.grad();
        if (gradient.defined() && gradient.is_sparse()) parameter.set_grad(gathered(gradient));
    }
    const ExchangeTimes times{
        .total_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count()};
    return [times] { return times; };
}

/// The entries of all ranks, in the order of the ranks.
Tensor GradientExchange::gathered(const Tensor& gradient) const {
    const SparseParts& parts = sparse_parts(gradient);
    const Tensor places = dense(parts.indices), values = dense(parts.values);
    const std::vector<std::int64_t> counts = gather_counts(ranks_, places.size(1));
    const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    const Device& device = values.device();
    const Tensor all_places = Tensor::empty({places.size(0), total}, DType::i64, device);
    const std::int64_t own = places.size(1);
    for (std::int64_t d = 0; d < places.size(0); ++d) {
        gather_over(ranks_, {all_places.data_as<std::int64_t>() + d * total, DType::i64, total},
                    {places.data_as<std::int64_t>() + d * own, DType::i64, own}, counts, device);
    }
    Shape shape = values.shape();
    shape[0] = total;
    const Tensor all_values = Tensor::empty(shape, values.dtype(), device);
    std::vector<std::int64_t> elements;
    std::int64_t width = 1;
    for (int d = 1; d < values.rank(); ++d) width *= values.size(d);
    for (const std::int64_t count : counts) elements.push_back(count * width);
    gather_over(ranks_, all_values.array(), values.array(), elements, device);
    const GradMode off(false);
    return sparse_tensor(all_places,
                         options_.average ? mul(all_values, 1.0 / ranks_.size()) : all_values,
                         gradient.shape());
}

}  // namespace engine
