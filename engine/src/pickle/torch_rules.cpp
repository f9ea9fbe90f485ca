#include "pickle/torch_rules.h"

#include <algorithm>

#include "core/dims.h"
#include "engine/error.h"

namespace engine {
namespace {

struct StorageType {
    std::string_view global;
    DType dtype;
};
constexpr StorageType storage_types[] = {
    {"torch.DoubleStorage", DType::f64}, {"torch.FloatStorage", DType::f32},
    {"torch.HalfStorage", DType::f16},   {"torch.BFloat16Storage", DType::bf16},
    {"torch.LongStorage", DType::i64},   {"torch.IntStorage", DType::i32},
    {"torch.ByteStorage", DType::u8},    {"torch.BoolStorage", DType::boolean}};

constexpr std::string_view ordered_dict = "collections.OrderedDict";
constexpr std::string_view size_type = "torch.Size";
constexpr std::string_view rebuild_tensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view rebuild_parameter = "torch._utils._rebuild_parameter";

const StorageType* storage_type(std::string_view global) {
    const auto* found =
        std::find_if(std::begin(storage_types), std::end(storage_types),
                     [&](const StorageType& type) { return type.global == global; });
    return found == std::end(storage_types) ? nullptr : found;
}

template <typename T>
const T& need(const PickleValues& all, std::span<const PickleRef> values, std::size_t index) {
    const T* value = index < values.size() ? all.get<T>(values[index]) : nullptr;
    if (value == nullptr)
        fail(msg("a tensor or storage in it is not described the way PyTorch does it"));
    return *value;
}

std::int64_t need_size(const PickleValues& all, std::span<const PickleRef> values,
                       std::size_t index) {
    const std::int64_t value = need<std::int64_t>(all, values, index);
    if (value < 0) fail(msg("a tensor or storage in it has a negative size"));
    return value;
}

std::vector<std::int64_t> need_sizes(const PickleValues& all, std::span<const PickleRef> values,
                                     std::size_t index) {
    const auto& items = need<PickleSequence>(all, values, index).items;
    if (items.size() > Dims::max_rank)
        fail(msg("a tensor in it has {} dimensions, the most is 8", items.size()));
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < items.size(); ++i) out.push_back(need_size(all, items, i));
    return out;
}

/// One past the last element that the tensor reads; nothing if that overflows.
std::optional<std::int64_t> end_of(const TorchTensor& tensor) {
    std::int64_t last = tensor.offset, step = 0;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
        if (tensor.shape[i] == 0) return 0;
        if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.strides[i], &step)) return {};
        if (__builtin_add_overflow(last, step, &last)) return {};
    }
    return __builtin_add_overflow(last, std::int64_t{1}, &last) ? std::nullopt
                                                                : std::optional(last);
}

void check_within(const TorchTensor& tensor, const TorchStorage& storage) {
    std::uint64_t numel = 1;
    for (const std::int64_t size : tensor.shape) {
        const bool too_many =
            __builtin_mul_overflow(numel, static_cast<std::uint64_t>(size), &numel) ||
            numel > static_cast<std::uint64_t>(max_elements);
        if (too_many) fail(msg("a tensor in it has more elements than any machine can hold"));
    }
    const auto end = end_of(tensor);
    if (!end || static_cast<std::uint64_t>(*end) > storage.numel)
        fail(msg("a tensor in it reads beyond its storage {}", storage.key));
}

}  // namespace

std::uint64_t TorchTensor::numel() const {
    std::uint64_t out = 1;
    for (const std::int64_t size : shape) out *= static_cast<std::uint64_t>(size);
    return out;
}

bool TorchRules::allows(std::string_view global) const {
    return global == ordered_dict || global == size_type || global == rebuild_tensor ||
           global == rebuild_parameter || storage_type(global) != nullptr;
}

std::variant<PickleValue, PickleRef> TorchRules::call(const std::string& global,
                                                      std::span<const PickleRef> arguments,
                                                      const PickleValues& all) {
    if (global == ordered_dict && arguments.empty()) return PickleValue(PickleDict{});
    if (global == size_type) {
        need<PickleSequence>(all, arguments, 0);
        return arguments[0];
    }
    if (global == rebuild_parameter) {
        need<PickleObject>(all, arguments, 0);
        if (tensor(all[arguments[0]]) != nullptr) return arguments[0];
    }
    if (global == rebuild_tensor) return rebuild(arguments, all);
    fail(msg("it calls {} differently from PyTorch", global));
}

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks)
PickleValue TorchRules::rebuild(std::span<const PickleRef> arguments, const PickleValues& all) {
    const Object& from = objects_[need<PickleObject>(all, arguments, 0).index];
    if (!from.storage)
        fail(msg("a tensor or storage in it is not described the way PyTorch does it"));
    TorchTensor made{.storage = *from.storage,
                     .offset = need_size(all, arguments, 1),
                     .shape = need_sizes(all, arguments, 2),
                     .strides = need_sizes(all, arguments, 3)};
    if (made.shape.size() != made.strides.size())
        fail(msg("a tensor or storage in it is not described the way PyTorch does it"));
    check_within(made, storages_[made.storage]);
    objects_.push_back({std::nullopt, std::move(made)});
    return PickleObject{objects_.size() - 1};
}

/// ("storage", type, key, location, numel)
PickleValue TorchRules::stored(PickleRef identity, const PickleValues& all) {
    const auto* parts = all.get<PickleSequence>(identity);
    if (parts == nullptr || need<std::string>(all, parts->items, 0) != "storage")
        fail(msg("a tensor or storage in it is not described the way PyTorch does it"));
    const StorageType* type = storage_type(need<PickleGlobal>(all, parts->items, 1).name);
    if (type == nullptr)
        fail(msg("a tensor or storage in it is not described the way PyTorch does it"));
    const TorchStorage made{need<std::string>(all, parts->items, 2), type->dtype,
                            static_cast<std::uint64_t>(need_size(all, parts->items, 4))};
    if (made.numel > static_cast<std::uint64_t>(max_elements))
        fail(msg("a tensor in it has more elements than any machine can hold"));
    storages_.push_back(made);
    objects_.push_back({storages_.size() - 1, {}});
    return PickleObject{objects_.size() - 1};
}

const TorchTensor* TorchRules::tensor(const PickleValue& value) const {
    const auto* object = std::get_if<PickleObject>(&value);
    if (object == nullptr || objects_[object->index].storage) return nullptr;
    return &objects_[object->index].tensor;
}

}  // namespace engine
