#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "pickle/unpickler.h"

namespace engine {

/// A run of numbers in a PyTorch file, in an entry of its own.
struct TorchStorage {
    std::string key;  ///< its entry is data/KEY
    DType dtype = DType::f32;
    std::uint64_t numel = 0;
};

/// A tensor as a view of a storage. Every element lies within it.
struct TorchTensor {
    std::size_t storage = 0;  ///< index into TorchRules::storages()
    std::int64_t offset = 0;  ///< in elements, as the strides
    std::vector<std::int64_t> shape, strides;

    std::uint64_t numel() const;
};

/// The names that torch.save writes for dicts of plain tensors: OrderedDict, Size, dense storages
/// and what makes a tensor or a parameter of one.
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

    /// What a PickleObject stands for: a storage or a tensor.
    struct Object {
        std::optional<std::size_t> storage;
        TorchTensor tensor;
    };
    std::vector<Object> objects_;
    std::vector<TorchStorage> storages_;
};

}  // namespace engine
