#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/pickle/unpickler.h"
#include "tensor/dtype.h"

namespace engine {

/// How a number lies in a PyTorch file, and the type that it is read as.
struct TorchNumber {
    DType dtype = DType::f32;
    int bytes = 4;  ///< fewer than the dtype has: an integer that is widened
    bool is_signed = true;

    bool operator==(const TorchNumber&) const = default;
};

/// A run of numbers in a PyTorch file, in an entry of its own.
struct TorchStorage {
    std::string key;  ///< its entry is data/KEY
    TorchNumber number;
    std::uint64_t numel = 0;
    bool untyped = false;  ///< bytes until a tensor states their type

    std::uint64_t bytes() const { return numel * static_cast<std::uint64_t>(number.bytes); }
};

/// A tensor as a view of a storage. Every element lies within it.
struct TorchTensor {
    std::size_t storage = 0;  ///< index into TorchRules::storages()
    std::int64_t offset = 0;  ///< in elements, as the strides
    std::vector<std::int64_t> shape, strides;

    std::uint64_t numel() const;
};

/// The names that torch.save writes for dicts of plain tensors: OrderedDict, Size, dense storages
/// and what makes a tensor or a parameter of one. An object of any other class, such as NumPy's
/// scalars, argparse.Namespace or a date, is a PickleOther: nothing makes it. Names that only an
/// attack has use for, such as os.system, are refused.
class TorchRules final : public PickleRules {
public:
    bool allows(std::string_view global) const override;
    std::variant<PickleValue, PickleRef> call(const std::string& global,
                                              std::span<const PickleRef> arguments,
                                              const PickleValues& all) override;
    PickleValue stored(PickleRef identity, const PickleValues& all) override;

    const std::vector<TorchStorage>& storages() const { return storages_; }
    /// Null if the value is not a tensor.
    const TorchTensor* tensor(const PickleValue& value) const;

private:
    PickleValue rebuild(std::span<const PickleRef> arguments, const PickleValues& all);

    /// The storage or the tensor that a PickleObject stands for.
    struct Object {
        std::optional<std::size_t> storage;
        TorchTensor tensor;
    };
    std::vector<Object> objects_;
    std::vector<TorchStorage> storages_;
};

}  // namespace engine
