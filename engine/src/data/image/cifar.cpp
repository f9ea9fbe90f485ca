#include "data/image/cifar.h"

#include <algorithm>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::size_t plane = 32 * 32;

const CifarFormat& other_of(const CifarFormat& format) {
    return is_cifar10(format) ? cifar100_format() : cifar10_format();
}

[[noreturn]] void refuse(const CifarFormat& format, Message message) {
    throw Error(ErrorCode::data, std::move(message),
                msg("Get the binary version of {} again.", format.title));
}

[[noreturn]] void refuse_other_kind(const std::string& file, const CifarFormat& format) {
    const CifarFormat& other = other_of(format);
    throw Error(ErrorCode::data,
                msg("{}: holds {}, not {}: its records are of {} bytes", file, other.title,
                    format.title, other.record_bytes()),
                msg("Set dataset.kind to {}, or give the path of {}.", other.kind, format.title));
}

/// One record's planes to H, W, C; its last label byte is the class.
void append_record(std::span<const std::uint8_t> record, LabelledImages& out) {
    const std::size_t labels = record.size() - 3 * plane;
    out.labels.push_back(record[labels - 1]);
    const std::uint8_t* red = record.data() + labels;
    const std::size_t before = out.pixels.size();
    out.pixels.resize(before + 3 * plane);
    std::uint8_t* to = out.pixels.data() + before;
    for (std::size_t i = 0; i < plane; ++i) {
        to[3 * i] = red[i];
        to[3 * i + 1] = red[plane + i];
        to[3 * i + 2] = red[2 * plane + i];
    }
}

/// The first label byte out of its range, or -1.
int bad_label(const CifarFormat& format, std::span<const std::uint8_t> record) {
    for (std::size_t i = 0; i < format.label_classes.size(); ++i) {
        if (record[i] >= format.label_classes[i]) return record[i];
    }
    return -1;
}

}  // namespace

const CifarFormat& cifar10_format() {
    static const CifarFormat format{"cifar10", "CIFAR-10", {10}};
    return format;
}

const CifarFormat& cifar100_format() {
    static const CifarFormat format{"cifar100", "CIFAR-100", {20, 100}};
    return format;
}

bool could_be(const CifarFormat& format, std::span<const std::uint8_t> beginning) {
    const std::size_t record = format.record_bytes();
    for (std::size_t at = 0; at + record <= beginning.size(); at += record) {
        if (bad_label(format, beginning.subspan(at, record)) >= 0) return false;
    }
    return beginning.size() >= record;
}

void append_cifar(const std::string& file, ByteReader& reader, const CifarFormat& format,
                  std::int64_t limit, LabelledImages& out) {
    constexpr std::size_t records_at_once = 64;
    const std::size_t bytes = format.record_bytes();
    std::vector<std::uint8_t> block(records_at_once * bytes);
    std::vector<std::uint8_t> beginning;
    std::size_t total = 0;  // bytes read
    for (std::int64_t record = 0;;) {
        const std::size_t got = reader.read(block);
        total += got;
        if (beginning.empty())
            beginning.assign(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(got));
        for (std::size_t at = 0; at + bytes <= got; at += bytes, ++record) {
            if (limit > 0 && record == limit) return;
            const auto one = std::span<const std::uint8_t>(block).subspan(at, bytes);
            if (const int label = bad_label(format, one); label >= 0) {
                if (could_be(other_of(format), beginning)) refuse_other_kind(file, format);
                refuse(format, msg("{}: label {} of record {} is beyond the classes of {}", file,
                                   label, record, format.title));
            }
            append_record(one, out);
        }
        if (static_cast<std::int64_t>(out.pixels.size()) > largest_dataset_bytes()) {
            refuse(format, msg("{}: holds more than fits into memory", file));
        }
        if (got < block.size()) break;
    }
    if (total % bytes == 0 && total > 0) return;
    const CifarFormat& other = other_of(format);
    if (total == 0) refuse(format, msg("{}: holds no samples", file));
    if (total % other.record_bytes() == 0 && could_be(other, beginning)) {
        refuse_other_kind(file, format);
    }
    refuse(format, msg("{}: {} bytes are not a whole number of {} records ({} bytes each): cut "
                       "short or too long",
                       file, total, format.title, bytes));
}

bool is_cifar_train(const std::string& name) {
    return name.ends_with(".bin") && (name.starts_with("train") || name.starts_with("data_batch"));
}

bool is_cifar_test(const std::string& name) {
    return name.ends_with(".bin") && name.starts_with("test");
}

}  // namespace engine
