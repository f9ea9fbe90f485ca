#include "cuda/matmul_plans.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>

#include "cuda/autotuner.h"
#include "kernels/device_error.h"

namespace kernels::cuda::lt {
namespace {

template <typename T>
void set(Desc desc, DescAttribute attribute, T value) {
    check(table().desc_set(desc, attribute, &value, sizeof(value)),
          "cublasLtMatmulDescSetAttribute");
}

Layout layout_of(DataType type, const Operand& operand, std::int64_t batch) {
    Layout layout = nullptr;
    check(table().layout_create(&layout, type, static_cast<std::uint64_t>(operand.rows),
                                static_cast<std::uint64_t>(operand.cols), operand.ld),
          "cublasLtMatrixLayoutCreate");
    if (batch == 1) return layout;
    const auto count = static_cast<std::int32_t>(batch);
    const auto put = [&](LayoutAttribute attribute, const auto& value) {
        check(table().layout_set(layout, attribute, &value, sizeof(value)),
              "cublasLtMatrixLayoutSetAttribute");
    };
    put(LayoutAttribute::batch_count, count);
    put(LayoutAttribute::batch_stride, operand.stride);
    return layout;
}

/// Algorithms from which the heuristic may choose; destroyed at the end of the choice.
class Choice {
public:
    Choice() { check(table().preference_create(&preference_), "cublasLtMatmulPreferenceCreate"); }
    ~Choice() { table().preference_destroy(preference_); }
    Choice(const Choice&) = delete;
    Choice& operator=(const Choice&) = delete;

    template <typename T>
    void limit(PreferenceAttribute attribute, T value) {
        check(table().preference_set(preference_, attribute, &value, sizeof(value)),
              "cublasLtMatmulPreferenceSetAttribute");
    }
    Preference get() const { return preference_; }

private:
    Preference preference_ = nullptr;
};

/// How parts of a sum that was split may be put together: in the compute type, never in d's 16
/// bits (decisions.md#numerics, D3). Where they are added in d itself, their order changes from run
/// to run.
std::uint32_t reduction_scheme(const Product& product) {
    const bool wide = product.out == DataType::f32 || product.out == DataType::f64;
    return wide && !product.choice.bit_stable ? reduce_in_compute_type | reduce_in_place
                                              : reduce_in_compute_type;
}

/// The algorithm's own words: the library gives them no name.
std::string name_of(const Algorithm& algorithm) {
    std::string out;
    for (const std::uint64_t word : algorithm.data) {
        std::array<char, 17> digits{};
        std::snprintf(digits.data(), digits.size(), "%llx", static_cast<unsigned long long>(word));
        out += (out.empty() ? "" : "-") + std::string(digits.data());
    }
    return out;
}

/// Nothing if it is no name of name_of().
std::optional<Algorithm> parse_algorithm(const std::string& name) {
    Algorithm algorithm{};
    const char* at = name.data();
    const char* const end = at + name.size();
    for (std::uint64_t& word : algorithm.data) {
        if (&word != algorithm.data && (at == end || *at++ != '-')) return std::nullopt;
        const auto read = std::from_chars(at, end, word, 16);
        if (read.ec != std::errc{}) return std::nullopt;
        at = read.ptr;
    }
    return at == end ? std::optional(algorithm) : std::nullopt;
}

}  // namespace

void check(Status status, const char* call) {
    if (status == success) return;
    throw DeviceError(std::string(call) + ": " + table().status_name(status));
}

std::array<std::int64_t, 20> Product::key() const {
    const auto flags = static_cast<std::int64_t>(a.transposed) |
                       static_cast<std::int64_t>(b.transposed) << 1 |
                       static_cast<std::int64_t>(choice.measured) << 2 |
                       static_cast<std::int64_t>(choice.bit_stable) << 3 | bias_alignment << 4;
    const std::int64_t types = static_cast<std::int64_t>(in) | static_cast<std::int64_t>(out) << 8 |
                               static_cast<std::int64_t>(compute) << 16 |
                               static_cast<std::int64_t>(epilogue) << 24;
    return {types,    flags,       device, batch,    a.rows,     a.cols,   a.ld,
            a.stride, a.alignment, b.rows, b.cols,   b.ld,       b.stride, b.alignment,
            d.rows,   d.cols,      d.ld,   d.stride, d.alignment};
}

std::string Product::text() const {
    Product anywhere = *this;
    anywhere.device = 0;
    return "product " + text_of(anywhere.key());
}

std::size_t KeyHash::operator()(const std::array<std::int64_t, 20>& words) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const std::int64_t word : words) {
        hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
}

Plan::Plan(Handle handle, const Product& product, std::size_t workspace_bytes)
    : wide_(product.compute == ComputeType::f64), max_workspace_(workspace_bytes) {
    try {
        describe(product);
        ask(handle, product, workspace_bytes);
    } catch (...) {
        destroy();
        throw;
    }
}

Plan::~Plan() { destroy(); }

void Plan::destroy() noexcept {
    if (desc_) table().desc_destroy(desc_);
    for (Layout layout : {a_, b_, d_})
        if (layout) table().layout_destroy(layout);
}

Plan::Plan(Plan&& other) noexcept
    : keeps_nan(other.keeps_nan),
      desc_(std::exchange(other.desc_, nullptr)),
      a_(std::exchange(other.a_, nullptr)),
      b_(std::exchange(other.b_, nullptr)),
      d_(std::exchange(other.d_, nullptr)),
      wide_(other.wide_),
      offers_(std::move(other.offers_)),
      max_workspace_(other.max_workspace_),
      chosen_(other.chosen_),
      settled_(other.settled_) {}

void Plan::describe(const Product& product) {
    // Sums and scales in f32 (f64 for f64), never in 16 bits.
    check(table().desc_create(&desc_, product.compute, wide_ ? DataType::f64 : DataType::f32),
          "cublasLtMatmulDescCreate");
    const auto operation = [](const Operand& operand) {
        return operand.transposed ? Operation::transpose : Operation::none;
    };
    set(desc_, DescAttribute::trans_a, operation(product.a));
    set(desc_, DescAttribute::trans_b, operation(product.b));
    set(desc_, DescAttribute::epilogue, product.epilogue);
    // The heuristic may look at the bias's address: here stands one that is aligned like it.
    if (product.bias_alignment > 0)
        set(desc_, DescAttribute::bias_pointer,
            reinterpret_cast<const void*>(product.bias_alignment));
    a_ = layout_of(product.in, product.a, product.batch);
    b_ = layout_of(product.in, product.b, product.batch);
    d_ = layout_of(product.out, product.d, product.batch);
}

void Plan::ask(Handle handle, const Product& product, std::size_t workspace_bytes) {
    Choice choice;
    choice.limit(PreferenceAttribute::workspace_bytes, static_cast<std::uint64_t>(workspace_bytes));
    choice.limit(PreferenceAttribute::reduction_schemes, reduction_scheme(product));
    const auto alignment = [](const Operand& operand) {
        return static_cast<std::uint32_t>(operand.alignment);
    };
    choice.limit(PreferenceAttribute::alignment_a, alignment(product.a));
    choice.limit(PreferenceAttribute::alignment_b, alignment(product.b));
    choice.limit(PreferenceAttribute::alignment_c, alignment(product.d));
    // An epilogue reads the bias as it writes d.
    const std::int64_t bias = product.bias_alignment > 0 ? product.bias_alignment : 256;
    choice.limit(PreferenceAttribute::alignment_d,
                 static_cast<std::uint32_t>(std::min(product.d.alignment, bias)));
    std::array<HeuristicResult, max_candidates> results{};
    const int wanted = product.choice.measured ? static_cast<int>(results.size()) : 1;
    int count = 0;
    const Status status = table().heuristic(handle, desc_, a_, b_, d_, d_, choice.get(), wanted,
                                            results.data(), &count);
    if (status == not_supported || (status == success && count == 0)) return;
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    for (int i = 0; i < count; ++i) {
        const HeuristicResult& result = results[static_cast<std::size_t>(i)];
        if (result.state == success) offers_.push_back({result.algorithm, result.workspace_bytes});
    }
}

std::vector<std::string> Plan::names() const {
    std::vector<std::string> out;
    for (const Offer& offer : offers_) out.push_back(name_of(offer.algorithm));
    return out;
}

void Plan::restore(Handle handle, const std::string& name) {
    const auto is_named = [&](const Offer& offer) { return name_of(offer.algorithm) == name; };
    const auto algorithm = parse_algorithm(name);
    if (!algorithm || std::any_of(offers_.begin(), offers_.end(), is_named)) return;
    HeuristicResult result{};
    const Status status =
        table().algorithm_check(handle, desc_, a_, b_, d_, d_, &*algorithm, &result);
    if (status != success || result.state != success) return;
    if (result.workspace_bytes <= max_workspace_)
        offers_.push_back({*algorithm, result.workspace_bytes});
}

std::string Plan::words() const {
    std::string out = "cuBLASLt";
    const auto add = [&](const char* word, AlgorithmPart part) {
        std::uint32_t number = 0;
        std::size_t written = 0;
        const Status status = table().algorithm_get(&offers_[chosen_].algorithm, part, &number,
                                                    sizeof(number), &written);
        if (status == success) out += std::string(" ") + word + " " + std::to_string(number);
    };
    add("algorithm", AlgorithmPart::id);
    add("tile", AlgorithmPart::tile);
    add("stages", AlgorithmPart::stages);
    add("split", AlgorithmPart::split);
    return out;
}

void Plan::run(Handle handle, const Call& call) {
    if (call.bias) set(desc_, DescAttribute::bias_pointer, call.bias);
    const float alpha = static_cast<float>(call.alpha), beta = static_cast<float>(call.beta);
    const void* scales[] = {&alpha, &beta};
    if (wide_) scales[0] = &call.alpha, scales[1] = &call.beta;
    const Offer& offer = offers_[chosen_];
    check(table().matmul(handle, desc_, scales[0], call.a, a_, call.b, b_, scales[1], call.d, d_,
                         call.d, d_, &offer.algorithm, call.workspace, offer.workspace_bytes,
                         call.stream),
          "cublasLtMatmul");
}

}  // namespace kernels::cuda::lt
