#include "data/image/image_parts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text_utf8.h"
#include "data/data_files.h"
#include "engine/base/error.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

struct RoleName {
    std::string_view name;
    FolderRole role;
};
constexpr std::array role_names{RoleName{"train", FolderRole::train},
                                RoleName{"training", FolderRole::train},
                                RoleName{"trn", FolderRole::train},
                                RoleName{"val", FolderRole::validation},
                                RoleName{"valid", FolderRole::validation},
                                RoleName{"validate", FolderRole::validation},
                                RoleName{"validation", FolderRole::validation},
                                RoleName{"dev", FolderRole::validation},
                                RoleName{"test", FolderRole::test},
                                RoleName{"testing", FolderRole::test},
                                RoleName{"tst", FolderRole::test},
                                RoleName{"eval", FolderRole::evaluation},
                                RoleName{"evaluation", FolderRole::evaluation},
                                RoleName{"evaluate", FolderRole::evaluation}};
/// Words that people put before or after these names.
constexpr std::array<std::string_view, 21> added_words{
    "images", "image", "imgs",    "img",    "pictures", "picture", "pics",
    "photos", "photo", "dataset", "data",   "set",      "split",   "folder",
    "dir",    "part",  "samples", "sample", "subset",   "files",   "classes"};
constexpr std::array<std::string_view, 10> leftovers{
    "__macosx",     "thumbs.db", "ehthumbs.db", "ehthumbs_vista.db",         "desktop.ini",
    "$recycle.bin", "recycler",  "@eadir",      "system volume information", "icon\r"};

/// Strips added words, digits at the end and separators: "Train_Images-2017" becomes "train".
std::string bare_name(const std::string& folder) {
    std::string name;
    for (const char c : in_lower_case(folder))
        if (c != '_' && c != '-' && c != ' ' && c != '.') name += c;
    for (bool shorter = true; shorter;) {
        shorter = false;
        while (!name.empty() && is_digit(name.back())) name.pop_back();
        for (const std::string_view word : added_words) {
            if (name.size() <= word.size()) continue;
            if (name.ends_with(word)) {
                name.resize(name.size() - word.size());
            } else if (name.starts_with(word)) {
                name.erase(0, word.size());
            } else {
                continue;
            }
            shorter = true;
            break;
        }
    }
    return name;
}

/// Makes the folder that part. Throws Error(data) if another folder already is.
void set_part(std::optional<fs::path>& part, const fs::path& folder) {
    if (part) {
        throw Error(ErrorCode::data,
                    msg("{}: {} and {} look like the same part", folder.parent_path().string(),
                        part->filename().string(), folder.filename().string()),
                    msg("Rename or move one of them."));
    }
    part = folder;
}

}  // namespace

FolderRole role_of_folder(const std::string& name) {
    const std::string bare = bare_name(name);
    const auto found = std::ranges::find(role_names, bare, &RoleName::name);
    return found == role_names.end() ? FolderRole::other : found->role;
}

bool is_leftover(const fs::path& file) {
    const std::string name = in_lower_case(file.filename().string());
    return name.starts_with('.') || name.starts_with("~$") ||
           std::ranges::find(leftovers, name) != leftovers.end();
}

ImageParts find_image_parts(const fs::path& folder) {
    ImageParts out;
    std::vector<fs::path> folders, evaluations;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.is_directory(ignored) && !is_leftover(entry.path()))
            folders.push_back(entry.path());
    std::ranges::sort(folders);
    for (const fs::path& each : folders) {
        switch (role_of_folder(each.filename().string())) {
            case FolderRole::train:
                set_part(out.train, each);
                break;
            case FolderRole::validation:
                set_part(out.validation, each);
                break;
            case FolderRole::test:
                set_part(out.test, each);
                break;
            case FolderRole::evaluation:
                evaluations.push_back(each);
                break;
            case FolderRole::other:
                out.others.push_back(each);
                break;
        }
    }
    for (const fs::path& each : evaluations)
        set_part(out.test && !out.validation ? out.validation : out.test, each);
    const auto& alone = out.test ? out.test : out.validation;
    if (!out.train && alone) {
        throw Error(ErrorCode::data,
                    msg("{}: {} looks like a part, but there is no training part beside it",
                        folder.string(), alone->filename().string()),
                    msg("Put the folders of the classes to train on into a folder train beside it. "
                        "If it is a class, give it another name."));
    }
    if (!out.train) out.others.clear();
    return out;
}

}  // namespace engine
