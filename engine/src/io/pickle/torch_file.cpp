#include "io/pickle/torch_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "io/pickle/state_dict.h"
#include "io/zip/zip.h"
#include "tensor/layout.h"
#include "tensor/memory/memory.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

static_assert(std::endian::native == std::endian::little, "storages are copied as they are");

constexpr std::uint64_t max_pickle_bytes = 16 << 20;
constexpr std::uint64_t max_byte_order = 16;
/// Tensors may share storages (tied weights) or repeat elements (expanded views), but a small file
/// must not expand to more memory than this.
constexpr std::uint64_t max_growth = 4, free_growth = 16 << 20;

[[noreturn]] void refuse(const fs::path& path, const Message& reason, const Message& hint = {}) {
    throw Error(ErrorCode::data,
                msg("{}: cannot be read as PyTorch weights: {}", path.string(), reason.str()),
                hint.empty()
                    ? msg("Save the model's state_dict() with torch.save, or as safetensors.")
                    : hint);
}

/// The archive's contents except the storages. Its entries are in one folder of any name.
struct Head {
    std::string folder;
    std::string pickle;
    bool big_endian = false;
};

std::optional<std::string> folder_of(const std::string& entry, std::string_view name) {
    if (!entry.ends_with(name)) return std::nullopt;
    std::string folder = entry.substr(0, entry.size() - name.size());
    const bool is_folder = folder.find('/') == folder.size() - 1;
    return is_folder ? std::optional(std::move(folder)) : std::nullopt;
}

Head read_head(const fs::path& path) {
    Head head;
    ZipReader zip(path);
    while (const ZipEntry* entry = zip.next()) {
        if (const auto folder = folder_of(entry->name, "data.pkl")) {
            if (!head.folder.empty()) refuse(path, msg("it has data.pkl twice"));
            head.folder = *folder;
            head.pickle = zip.read_text(max_pickle_bytes);
        } else if (folder_of(entry->name, "byteorder")) {
            head.big_endian = zip.read_text(max_byte_order) == "big";
        }
    }
    if (head.folder.empty()) refuse(path, msg("the zip archive holds no data.pkl"));
    return head;
}

using Views = std::map<std::string, const TorchTensor*>;

/// Reads the storages that the views need, one after the other.
class StorageReader {
public:
    StorageReader(const fs::path& path, const Head& head, const TorchRules& rules,
                  const Views& views)
        : path_(path), head_(head), storages_(rules.storages()), zip_(path) {
        std::uint64_t bytes = 0;
        for (const auto& [name, tensor] : views) {
            const TorchStorage& storage = storages_[tensor->storage];
            bytes += tensor->numel() * size_of(storage.number.dtype);
            check_memory(bytes);
            by_key_[storage.key].emplace_back(name, tensor);
        }
    }

    TensorMap read() {
        std::uint64_t left = zip_.file_bytes();
        while (const ZipEntry* entry = zip_.next()) {
            const std::string key = key_of(entry->name);
            const auto found = by_key_.find(key);
            if (key.empty() || found == by_key_.end()) continue;
            if (!entry->has_bytes || entry->bytes > left)
                refuse(path_, msg("its tensors are larger than the file; repacked archives are "
                                  "not read"));
            left -= entry->bytes;
            read_storage(key, entry->bytes, found->second);
            by_key_.erase(found);
        }
        for (const auto& [key, views] : by_key_) {
            for (const auto& view : views) add_empty(key, view);
        }
        return std::move(tensors_);
    }

private:
    using View = std::pair<std::string, const TorchTensor*>;

    void check_memory(std::uint64_t bytes) const {
        const std::uint64_t most = std::min<std::uint64_t>(
            zip_.file_bytes() * max_growth + free_growth, memory_limit() / 2);
        if (bytes > most)
            refuse(path_, msg("its tensors would take more than {} MiB of memory", most >> 20));
    }

    std::string key_of(const std::string& entry) const {
        const std::string folder = head_.folder + "data/";
        return entry.starts_with(folder) ? entry.substr(folder.size()) : std::string();
    }

    void read_storage(const std::string& key, std::uint64_t bytes, const std::vector<View>& views) {
        const TorchStorage& storage = storages_[views.front().second->storage];
        if (bytes != storage.bytes())
            refuse(path_, msg("its storage {} does not have the stated length", key));
        const TorchNumber& number = storage.number;
        const Tensor numbers =
            Tensor::empty({static_cast<std::int64_t>(storage.numel)}, number.dtype, Device{});
        // A small integer lies at the end of its widened storage, and is widened from the front.
        const std::span all(numbers.data_as<std::byte>(), numbers.bytes());
        const std::span data = all.last(bytes);
        zip_.read_whole(data);
        if (head_.big_endian) swap_bytes(data, static_cast<std::size_t>(number.bytes));
        if (number.bytes < static_cast<int>(size_of(number.dtype))) widen(data, number, all);
        for (const auto& [name, tensor] : views) {
            const TorchStorage& said = storages_[tensor->storage];
            if (!(said.number == number) || said.numel != storage.numel)
                refuse(path_, msg("its storage {} is of two types", key));
            tensors_[name] = copy_of(numbers, *tensor);
        }
    }

    /// Little-endian, as the machine. `from` may end where `to` does.
    static void widen(std::span<const std::byte> from, const TorchNumber& number,
                      std::span<std::byte> to) {
        const auto narrow = static_cast<std::size_t>(number.bytes), wide = size_of(number.dtype);
        for (std::size_t i = 0; i < from.size() / narrow; ++i) {
            std::array<std::byte, 8> value{};
            std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * narrow), narrow,
                        value.begin());
            const bool negative = number.is_signed && (value[narrow - 1] >> 7) != std::byte{0};
            if (negative)
                std::fill(value.begin() + static_cast<std::ptrdiff_t>(narrow), value.end(),
                          std::byte{0xff});
            std::copy_n(value.begin(), wide, to.begin() + static_cast<std::ptrdiff_t>(i * wide));
        }
    }

    static void swap_bytes(std::span<std::byte> data, std::size_t item) {
        for (std::size_t at = 0; at < data.size(); at += item)
            std::reverse(data.begin() + static_cast<std::ptrdiff_t>(at),
                         data.begin() + static_cast<std::ptrdiff_t>(at + item));
    }

    static Tensor copy_of(const Tensor& numbers, const TorchTensor& tensor) {
        const Shape shape(tensor.shape);
        Tensor out = Tensor::empty(shape, numbers.dtype(), Device{});
        if (out.numel() > 0)
            copy_into(out, view_of(numbers, shape, Strides(tensor.strides), tensor.offset));
        return out;
    }

    /// A tensor without elements needs no entry.
    void add_empty(const std::string& key, const View& view) {
        const auto& [name, tensor] = view;
        if (tensor->numel() != 0) refuse(path_, msg("its storage {} is missing", key));
        tensors_[name] =
            Tensor::empty(Shape(tensor->shape), storages_[tensor->storage].number.dtype, Device{});
    }

    const fs::path& path_;
    const Head& head_;
    const std::vector<TorchStorage>& storages_;
    std::map<std::string, std::vector<View>> by_key_;
    ZipReader zip_;
    TensorMap tensors_;
};

/// A pickle whose first value is the number that marks PyTorch's older form.
bool is_older_form(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    std::array<char, 6> start{};
    std::ifstream(path, std::ios::binary).read(start.data(), start.size());
    constexpr std::array<char, 6> form{'\x80', '\x02', '\x8a', '\x0a', '\x6c', '\xfc'};
    return start == form;
}

}  // namespace

bool is_torch_file(const fs::path& path) { return is_zip(path) || is_older_form(path); }

TorchWeights load_torch_weights(const fs::path& path, const std::string& key) {
    if (is_older_form(path))
        refuse(path, msg("it has the form that PyTorch wrote before version 1.6"));
    const Head head = read_head(path);
    TorchRules rules;
    try {
        const PickleValues all = unpickle(head.pickle, rules);
        StateDict dict = find_state_dict(all, rules, key);
        return {std::move(dict.key), StorageReader(path, head, rules, dict.tensors).read(),
                std::move(dict.others)};
    } catch (const PickleFault& fault) {
        refuse(path, fault.reason, fault.hint);
    }
}

}  // namespace engine
