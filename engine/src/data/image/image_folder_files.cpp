#include "data/image/image_folder_files.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include "data/byte_reader.h"
#include "data/data_files.h"
#include "data/image/image_parts.h"
#include "data/worker_pool.h"
#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "io/picture/readers.h"
#include "kernels/parallel.h"
#include "tensor/philox.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_depth = 16;  // folders within a class: a link may lead back
constexpr std::array extensions{".jpg", ".jpeg", ".jpe", ".jfif", ".png"};

std::string lower_extension(const fs::path& file) {
    return in_lower_case(file.extension().string());
}

bool is_picture_name(const fs::path& file) {
    return std::ranges::find(extensions, lower_extension(file)) != extensions.end();
}

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

/// Lists a folder by name. Throws Error(data) if it cannot be read.
std::vector<fs::path> list_entries(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (!is_leftover(at->path())) entries.push_back(at->path());
    if (error) {
        throw Error(ErrorCode::data,
                    msg("{}: cannot be read: {}", folder.string(), error.message()),
                    msg("Check the permissions of the folder."));
    }
    std::ranges::sort(entries);
    return entries;
}

/// Walks the class folders of one part.
class Walker {
public:
    Walker(ImageFolder& out, const std::stop_token& stop) : out_(out), stop_(stop) {}

    /// `known`: classes that there may be; none: those that are found.
    std::vector<PictureFile> walk(const fs::path& part, bool known) {
        std::vector<PictureFile> files;
        for (const fs::path& entry : list_entries(part)) {
            if (!is_folder(entry)) {
                leave_out(entry, /*beside_classes=*/true);
                continue;
            }
            const std::string name = entry.filename().string();
            const std::int64_t label = known ? known_class(name, part) : std::ssize(out_.classes);
            if (!known) out_.classes.push_back(name);
            const std::size_t before = files.size();
            add_folder(entry, label, 0, files);
            if (files.size() == before && !known) {
                throw Error(ErrorCode::data, msg("{}: a class without pictures", entry.string()),
                            msg("Put JPEG or PNG pictures there, or remove the folder."));
            }
        }
        return files;
    }

private:
    std::int64_t known_class(const std::string& name, const fs::path& part) const {
        const auto found = std::ranges::find(out_.classes, name);
        if (found != out_.classes.end()) return found - out_.classes.begin();
        throw Error(ErrorCode::data,
                    msg("{}: the training part has no class {}", part.string(), name),
                    msg("Its folders must have the names of the training folders."));
    }

    void add_folder(const fs::path& folder, std::int64_t label, std::size_t depth,
                    std::vector<PictureFile>& files) {
        if (depth > max_depth) {
            throw Error(ErrorCode::data,
                        msg("{}: the folders are nested without end", folder.string()),
                        msg("A link leads back to a folder above it."));
        }
        for (const fs::path& entry : list_entries(folder)) {
            if (stop_.stop_requested()) throw ReadingStopped{};
            // A folder with the name of a picture is reported as a picture that cannot be read.
            if (is_picture_name(entry))
                files.push_back({entry, label});
            else if (is_folder(entry))
                add_folder(entry, label, depth + 1, files);
            else
                leave_out(entry, false);
        }
    }

    void leave_out(const fs::path& file, bool beside_classes) {
        const std::string extension = beside_classes && is_picture_name(file)
                                          ? std::string("beside the class folders")
                                          : lower_extension(file);
        ++out_.left_out[extension.empty() ? file.filename().string() : extension];
    }

    ImageFolder& out_;
    const std::stop_token& stop_;
};

void check_root(const fs::path& folder) {
    std::error_code ignored;
    if (is_folder(folder)) return;
    const bool there = fs::exists(folder, ignored);
    throw Error(ErrorCode::data,
                there ? msg("{}: a file, not a folder of pictures", folder.string())
                      : msg("{}: no such file or folder", folder.string()),
                msg("Set dataset.path to a folder with a folder of pictures for each class."));
}

void check_classes(const ImageFolder& files, const fs::path& part) {
    if (files.classes.size() >= 2) return;
    throw Error(ErrorCode::data,
                files.classes.empty()
                    ? msg("{}: no folder for any class", part.string())
                    : msg("{}: a single class, {}", part.string(), files.classes.front()),
                msg("Put the pictures of each class into a folder of its own; two classes are the "
                    "least."));
}

/// Numbers of the files of each class.
std::map<std::int64_t, std::vector<std::size_t>> by_class(const std::vector<PictureFile>& files) {
    std::map<std::int64_t, std::vector<std::size_t>> out;
    for (std::size_t i = 0; i < files.size(); ++i) out[files[i].label].push_back(i);
    return out;
}

/// Moves the files of these numbers out of the list.
std::vector<PictureFile> taken(std::vector<PictureFile>& files, const std::vector<bool>& chosen) {
    std::vector<PictureFile> out, rest;
    for (std::size_t i = 0; i < files.size(); ++i)
        (chosen[i] ? out : rest).push_back(std::move(files[i]));
    files = std::move(rest);
    return out;
}

/// The folder of the training part, or the folder itself.
fs::path training_folder(const fs::path& folder) {
    try {
        return find_image_parts(folder).train.value_or(folder);
    } catch (const Error&) {
        return folder;  // reported when it is opened
    }
}

bool holds_pictures(const fs::path& folder) {
    constexpr int looked_at = 50;
    std::error_code error;
    int seen = 0;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (!is_leftover(at->path()) && is_picture_name(at->path())) return true;
        if (++seen == looked_at) break;
    }
    return false;
}

/// Folders beside the parts may hold pictures that a person means to use.
void note_others(const ImageParts& parts, ImageFolder& out) {
    constexpr std::size_t max_named = 5;
    std::string names;
    for (std::size_t i = 0; i < std::min(parts.others.size(), max_named); ++i)
        names += (i == 0 ? "" : ", ") + parts.others[i].filename().string();
    if (parts.others.size() > max_named) names += ", ...";
    if (!names.empty())
        out.notes.push_back(msg("{}: folders beside the training part are not used: {}",
                                parts.others.front().parent_path().string(), names));
}

using Clock = std::chrono::steady_clock;
constexpr std::size_t share_of_files = 32;  // between two looks at the stop token
constexpr std::chrono::milliseconds between_reports{100};

void look_at(const PictureFile& file, bool decode) {
    if (decode || !has_whole_picture(file.path)) load_picture(file.path, Alpha::dropped);
}

}  // namespace

ImageFolder list_image_folder(const fs::path& folder, const std::stop_token& stop) {
    check_root(folder);
    ImageFolder out;
    Walker walker(out, stop);
    const ImageParts parts = find_image_parts(folder);
    out.train = walker.walk(parts.train.value_or(folder), false);
    check_classes(out, parts.train.value_or(folder));
    const auto read = [&](const fs::path& part) {
        auto files = walker.walk(part, true);
        if (files.empty())
            out.notes.push_back(
                msg("{}: has no pictures in folders of classes, so it is not used", part.string()));
        return files;
    };
    if (parts.validation) out.validation = read(*parts.validation);
    if (parts.test) out.test = read(*parts.test);
    if (out.test.empty()) out.test = std::exchange(out.validation, {});
    out.has_test = !out.test.empty();
    note_others(parts, out);
    return out;
}

bool looks_like_image_folder(const fs::path& folder) {
    if (!is_folder(folder)) return false;
    const fs::path root = training_folder(folder);
    constexpr int looked_at = 50;
    std::error_code error;
    int seen = 0, classes = 0;
    for (fs::directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
        if (is_folder(at->path()) && !is_leftover(at->path()) && holds_pictures(at->path()))
            ++classes;
        if (classes == 2) return true;
        if (++seen == looked_at) break;
    }
    return false;
}

void limit_in_turn(std::vector<PictureFile>& files, std::int64_t limit) {
    if (limit <= 0 || std::ssize(files) <= limit) return;
    std::vector<bool> chosen(files.size());
    const auto classes = by_class(files);
    for (std::size_t turn = 0; limit > 0; ++turn) {
        for (const auto& [label, numbers] : classes) {
            if (turn >= numbers.size() || limit == 0) continue;
            chosen[numbers[turn]] = true;
            --limit;
        }
    }
    files = taken(files, chosen);
}

std::vector<PictureFile> split_test(std::vector<PictureFile>& files, double share,
                                    std::int64_t seed) {
    std::vector<bool> chosen(files.size());
    for (auto& [label, numbers] : by_class(files)) {
        // Fisher-Yates by the words of RandomStream(seed, StreamId::split, 2 + class).
        std::vector<std::size_t> order = numbers;
        const RandomStream random(seed, StreamId::split, 2 + static_cast<std::uint32_t>(label));
        for (std::size_t left = order.size(); left > 1; --left)
            std::swap(order[left - 1],
                      order[random.bounded(left, static_cast<std::uint32_t>(left))]);
        const auto count =
            static_cast<std::size_t>(std::llround(share * static_cast<double>(order.size())));
        for (std::size_t i = 0; i < count; ++i) chosen[order[i]] = true;
    }
    return taken(files, chosen);
}

std::vector<BadPicture> check_pictures(const std::vector<PictureFile>& files,
                                       const PictureCheck& check) {
    std::vector<BadPicture> bad;
    std::mutex mutex;
    WorkerPool pool(check.threads > 0 ? check.threads : kernels::cpu::hardware_threads());
    Clock::time_point reported{};
    for (std::size_t first = 0; first < files.size(); first += share_of_files) {
        if (check.stop.stop_requested()) throw ReadingStopped{};
        if (Clock::now() - reported >= between_reports) {
            report_reading({static_cast<std::int64_t>(first), std::ssize(files)});
            reported = Clock::now();
        }
        pool.run(std::min(share_of_files, files.size() - first),
                 [&](std::size_t item, std::size_t) {
                     try {
                         look_at(files[first + item], check.decode);
                     } catch (const Error& error) {
                         const std::lock_guard lock(mutex);
                         bad.push_back({first + item, error.message()});
                     }
                 });
    }
    report_reading({std::ssize(files), std::ssize(files)});
    std::ranges::sort(bad, {}, &BadPicture::index);
    return bad;
}

}  // namespace engine
