#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "io/file/work_progress.h"
#include "runs/foreign_log.h"
#include "runs/tensorboard_events.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr std::size_t max_logs = 1000;
constexpr int max_log_depth = 6;
/// Pictures and graphs are large, and skipped.
constexpr std::uint64_t max_event_bytes = std::uint64_t{512} << 20;
constexpr char hparams_mark[] = "_hparams_/";

bool is_event_file(const fs::path& path) {
    return path.filename().string().find(tensorboard_mark) != std::string::npos;
}

/// The next four are false for a field whose type is not the message's, which is skipped.
bool is_varint(const pbf_reader& field, protozero::pbf_tag_type tag) {
    return field.tag() == tag && field.wire_type() == pbf_wire_type::varint;
}
bool is_message(const pbf_reader& field, protozero::pbf_tag_type tag) {
    return field.tag() == tag && field.wire_type() == pbf_wire_type::length_delimited;
}
bool is_double(const pbf_reader& field, protozero::pbf_tag_type tag) {
    return field.tag() == tag && field.wire_type() == pbf_wire_type::fixed64;
}
bool is_float(const pbf_reader& field, protozero::pbf_tag_type tag) {
    return field.tag() == tag && field.wire_type() == pbf_wire_type::fixed32;
}

template <typename T>
T value_of_bytes(const char* bytes) {
    T value{};
    std::memcpy(&value, bytes, sizeof(value));
    return value;
}

/// The number of a tensor with one element of f32 or f64, as TensorFlow 2 writes scalars.
std::optional<double> number_of_tensor(pbf_reader tensor) {
    constexpr std::int32_t dt_float = 1, dt_double = 2;
    std::int32_t type = 0;
    std::string content;
    std::optional<double> value;
    std::size_t count = 0;
    while (tensor.next()) {
        if (is_varint(tensor, 1)) {
            type = tensor.get_enum();
        } else if (is_message(tensor, 4)) {
            content = tensor.get_bytes();
        } else if (is_message(tensor, 5)) {
            for (const float each : tensor.get_packed_float()) value = each, ++count;
        } else if (is_message(tensor, 6)) {
            for (const double each : tensor.get_packed_double()) value = each, ++count;
        } else {
            tensor.skip();
        }
    }
    if (type == dt_float && content.size() == sizeof(float))
        return value_of_bytes<float>(content.data());
    if (type == dt_double && content.size() == sizeof(double))
        return value_of_bytes<double>(content.data());
    return content.empty() && count == 1 ? value : std::nullopt;
}

std::string text_of_any(pbf_reader value) {
    std::string text;
    while (value.next()) {
        if (is_double(value, 2))
            text = shortest_text(value.get_double());
        else if (is_message(value, 3))
            text = value.get_string();
        else if (is_varint(value, 4))
            text = value.get_bool() ? "true" : "false";
        else
            value.skip();
    }
    return text;
}

/// The settings that the plugin HParams keeps at the start of a run.
void read_hparams(pbf_reader metadata, ForeignLog& log) {
    constexpr auto message = pbf_wire_type::length_delimited;
    while (metadata.next(1, message)) {
        pbf_reader plugin = metadata.get_message();
        while (plugin.next(2, message)) {
            pbf_reader data = plugin.get_message();
            while (data.next(3, message)) {
                pbf_reader start = data.get_message();
                while (start.next(1, message)) {
                    pbf_reader entry = start.get_message();
                    std::pair<std::string, std::string> setting;
                    while (entry.next()) {
                        if (is_message(entry, 1))
                            setting.first = entry.get_string();
                        else if (is_message(entry, 2))
                            setting.second = text_of_any(entry.get_message());
                        else
                            entry.skip();
                    }
                    log.settings.push_back(std::move(setting));
                }
            }
        }
    }
}

void read_value(pbf_reader value, std::int64_t step, double clock, ForeignLog& log) {
    std::string tag;
    std::optional<double> number;
    while (value.next()) {
        if (is_message(value, 1))
            tag = value.get_string();
        else if (is_float(value, 2))
            number = value.get_float();
        else if (is_message(value, 8))
            number = number_of_tensor(value.get_message());
        else if (is_message(value, 9) && tag == std::string(hparams_mark) + "session_start_info")
            read_hparams(value.get_message(), log);
        else
            value.skip();
    }
    if (number && !tag.starts_with(hparams_mark)) log.add(step, tag, *number, clock);
}

void read_event(std::string_view bytes, ForeignLog& log) {
    pbf_reader event(bytes.data(), bytes.size());
    std::int64_t step = 0;
    double clock = 0;
    while (event.next()) {
        if (is_double(event, 1)) {
            clock = event.get_double();
        } else if (is_varint(event, 2)) {
            step = event.get_int64();
        } else if (is_message(event, 5)) {
            pbf_reader summary = event.get_message();
            while (summary.next(1, pbf_wire_type::length_delimited))
                read_value(summary.get_message(), step, clock, log);
        } else if (is_message(event, 7)) {
            constexpr std::int32_t start = 1;
            pbf_reader session = event.get_message();
            while (session.next(1, pbf_wire_type::varint))
                if (session.get_enum() == start) log.take_back_from(step);
        } else {
            event.skip();
        }
    }
}

/// Reads records to the end, or to the first that is not whole: the program that wrote them may
/// have been killed, or write on.
void read_event_file(const fs::path& path, ForeignLog& log, WorkCount& work) {
    constexpr std::size_t head_bytes = 12, tail_bytes = 4;
    std::ifstream file(path, std::ios::binary);
    std::string head(head_bytes, '\0'), data, tail(tail_bytes, '\0');
    const auto damaged = [&] {
        log.warnings.push_back(
            msg("{}: damaged; what follows is left out", path.filename().string()));
    };
    while (file.read(head.data(), head_bytes)) {
        const auto length = value_of_bytes<std::uint64_t>(head.data());
        if (value_of_bytes<std::uint32_t>(head.data() + 8) !=
                tensorboard_checksum(std::string_view(head).substr(0, 8)) ||
            length > max_event_bytes)
            return damaged();
        data.resize(length);
        if (!file.read(data.data(), static_cast<std::streamsize>(length)) ||
            !file.read(tail.data(), tail_bytes))
            return;
        if (value_of_bytes<std::uint32_t>(tail.data()) != tensorboard_checksum(data))
            return damaged();
        try {
            read_event(data, log);
        } catch (const protozero::exception&) {
            return damaged();
        }
        work.add(head_bytes + length + tail_bytes);
    }
}

/// The event files of each folder.
std::map<fs::path, std::set<fs::path>> find_event_files(const fs::path& path) {
    std::map<fs::path, std::set<fs::path>> out;
    if (!fs::is_directory(path)) {
        out[path.parent_path()].insert(path);
        return out;
    }
    std::error_code error;
    fs::recursive_directory_iterator entry(path, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        if (entry.depth() >= max_log_depth) entry.disable_recursion_pending();
        if (entry->is_regular_file(error) && is_event_file(entry->path()))
            out[entry->path().parent_path()].insert(entry->path());
    }
    return out;
}

}  // namespace

std::vector<ForeignLog> read_tensorboard_logs(const fs::path& path) {
    static_assert(std::endian::native == std::endian::little);
    const auto folders = find_event_files(path);
    if (folders.empty())
        throw Error(ErrorCode::data, msg("{}: no run is there", path.string()),
                    msg("Give a file that halftone export --to run wrote, a folder with event "
                        "files of TensorBoard, or a CSV file with a row for each step."));
    if (folders.size() > max_logs)
        throw Error(ErrorCode::data,
                    msg("{}: more than {} runs", path.string(), std::to_string(max_logs)),
                    msg("Give a folder below it."));
    std::uint64_t bytes = 0;
    std::error_code error;
    for (const auto& [folder, files] : folders)
        for (const fs::path& file : files) bytes += fs::file_size(file, error);
    WorkCount work(bytes);
    std::vector<ForeignLog> out;
    for (const auto& [folder, files] : folders) {
        ForeignLog log;
        log.program = "TensorBoard";
        const fs::path below = folder.lexically_relative(path);
        const bool is_root = below.empty() || below == "." || !fs::is_directory(path);
        log.title = is_root ? fs::absolute(folder).lexically_normal().filename().string()
                            : below.generic_string();
        for (const fs::path& file : files) read_event_file(file, log, work);
        if (!log.steps.empty()) out.push_back(std::move(log));
    }
    if (out.empty())
        throw Error(ErrorCode::data, msg("{}: its event files have no scalars", path.string()));
    return out;
}

}  // namespace engine
