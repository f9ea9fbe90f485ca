#include "io/pickle/torch_rules.h"

#include <algorithm>

#include "engine/base/error.h"
#include "tensor/dims.h"

namespace engine {
namespace {

struct NumberType {
    std::string_view global;
    TorchNumber number;
};
constexpr NumberType storage_types[] = {
    {"torch.DoubleStorage", {DType::f64, 8}}, {"torch.FloatStorage", {DType::f32, 4}},
    {"torch.HalfStorage", {DType::f16, 2}},   {"torch.BFloat16Storage", {DType::bf16, 2}},
    {"torch.LongStorage", {DType::i64, 8}},   {"torch.IntStorage", {DType::i32, 4}},
    {"torch.ByteStorage", {DType::u8, 1}},    {"torch.BoolStorage", {DType::boolean, 1}},
    {"torch.ShortStorage", {DType::i32, 2}},  {"torch.CharStorage", {DType::i32, 1}},
};
/// Types that PyTorch stores as bytes, with the type beside each tensor.
constexpr NumberType untyped_numbers[] = {{"torch.uint16", {DType::i32, 2, false}},
                                          {"torch.uint32", {DType::i64, 4, false}}};
constexpr std::string_view untyped_storages[] = {"torch.storage.UntypedStorage",
                                                 "torch.UntypedStorage"};

constexpr std::string_view ordered_dict = "collections.OrderedDict";
constexpr std::string_view default_dict = "collections.defaultdict";
constexpr std::string_view size_type = "torch.Size";
constexpr std::string_view rebuild_tensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view rebuild_untyped_tensor = "torch._utils._rebuild_tensor_v3";
constexpr std::string_view rebuild_parameter = "torch._utils._rebuild_parameter";
constexpr std::string_view rebuild_parameter_with_state =
    "torch._utils._rebuild_parameter_with_state";

/// Modules and functions that no weights need. Nothing would be executed, but a user who loads
/// such a file elsewhere should know what it is.
constexpr std::string_view attack_modules[] = {
    "os",      "posix",    "nt",       "sys",    "subprocess", "shutil",    "socket",
    "runpy",   "code",     "commands", "ctypes", "importlib",  "marshal",   "pickle",
    "_pickle", "platform", "pty",      "popen2", "timeit",     "webbrowser"};
constexpr std::string_view attack_functions[] = {"eval", "exec",  "execfile",  "compile",
                                                 "open", "input", "__import__"};

template <std::size_t size>
bool is_one_of(std::string_view text, const std::string_view (&list)[size]) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

template <std::size_t size>
const TorchNumber* number_type(const NumberType (&types)[size], std::string_view global) {
    const auto* found = std::find_if(std::begin(types), std::end(types),
                                     [&](const NumberType& type) { return type.global == global; });
    return found == std::end(types) ? nullptr : &found->number;
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
    const std::size_t dot = std::min(global.rfind('.'), global.size());
    const std::string_view module = global.substr(0, dot);
    const std::string_view name = global.substr(std::min(dot + 1, global.size()));
    const std::string_view package = module.substr(0, module.find('.'));
    const bool builtin = module == "builtins" || module == "__builtin__";
    return !is_one_of(package, attack_modules) && !(builtin && is_one_of(name, attack_functions));
}

std::variant<PickleValue, PickleRef> TorchRules::call(const std::string& global,
                                                      std::span<const PickleRef> arguments,
                                                      const PickleValues& all) {
    if (global == ordered_dict && arguments.empty()) return PickleValue(PickleDict{});
    if (global == default_dict) return PickleValue(PickleDict{});
    if (global == size_type) {
        need<PickleSequence>(all, arguments, 0);
        return arguments[0];
    }
    if (global == rebuild_parameter || global == rebuild_parameter_with_state) {
        if (!arguments.empty() && all.get<PickleOther>(arguments[0]) != nullptr)
            return arguments[0];
        need<PickleObject>(all, arguments, 0);
        if (tensor(all[arguments[0]]) != nullptr) return arguments[0];
    }
    if (global == rebuild_tensor || global == rebuild_untyped_tensor)
        return rebuild(arguments, all);
    if (global == ordered_dict || global == rebuild_parameter ||
        global == rebuild_parameter_with_state)
        fail(msg("it calls {} differently from PyTorch", global));
    return PickleValue(PickleOther{global});
}

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks), and _rebuild_tensor_v3
/// with the type behind them.
PickleValue TorchRules::rebuild(std::span<const PickleRef> arguments, const PickleValues& all) {
    constexpr std::size_t type_at = 6;
    if (!arguments.empty() && all.get<PickleOther>(arguments[0]) != nullptr)
        return all[arguments[0]];  // of a type that is not read
    const Object& from = objects_[need<PickleObject>(all, arguments, 0).index];
    if (!from.storage)
        fail(msg("a tensor or storage in it is not described the way PyTorch does it"));
    TorchStorage& storage = storages_[*from.storage];
    if (storage.untyped) {
        const auto& type = need<PickleGlobal>(all, arguments, type_at).name;
        const TorchNumber* number = number_type(untyped_numbers, type);
        if (number == nullptr) return PickleOther{type};
        storage.numel = storage.bytes() / static_cast<std::uint64_t>(number->bytes);
        storage.number = *number;
        storage.untyped = false;
    }
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
    const std::string& type = need<PickleGlobal>(all, parts->items, 1).name;
    const bool untyped = is_one_of(type, untyped_storages);
    const TorchNumber* number = number_type(storage_types, type);
    if (number == nullptr && !untyped) return PickleOther{type};
    const TorchStorage made{need<std::string>(all, parts->items, 2),
                            untyped ? TorchNumber{DType::u8, 1} : *number,
                            static_cast<std::uint64_t>(need_size(all, parts->items, 4)), untyped};
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
