#include "base/json_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/platform/regular_file.h"

namespace engine {
namespace {

using nlohmann::json;

/// "line 3, column 14" of the byte (from 1) at which the parser gave up.
std::string place_of(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(text.size(), byte > 0 ? byte - 1 : 0));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto line_start = before.rfind('\n');
    const auto column =
        line_start == std::string_view::npos ? before.size() + 1 : before.size() - line_start;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// The parser's own words without its codes and its place.
std::string parse_reason(const json::exception& error) {
    std::string text = error.what();
    const auto after_place = text.find(": ");
    if (after_place != std::string::npos) text.erase(0, after_place + 2);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

/// Builds the value from the parser's calls, each of which goes on only if it returns true.
class BoundedBuilder : public nlohmann::json_sax<json> {
public:
    BoundedBuilder(std::string_view text, const JsonBounds& bounds, JsonFault& fault)
        : text_(text), bounds_(bounds), fault_(fault) {}

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t&) override { return put(value); }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(json::object()); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override {
        Open& object = open_.back();
        object.key = std::move(value);
        if (object.value->contains(object.key)) note_repeated();
        return true;
    }
    bool parse_error(std::size_t byte, const std::string& token,
                     const json::exception& error) override {
        if (dynamic_cast<const json::out_of_range*>(&error) != nullptr) {  // such as 1e400
            fault_.kind = JsonFault::Kind::number;
            fault_.reason = token;
        } else {
            fault_.kind = JsonFault::Kind::syntax;
            fault_.place = place_of(text_, byte);
            fault_.reason = parse_reason(error);
        }
        return false;
    }

    json take() { return std::move(root_); }

private:
    /// A container that is being read, and the key of its next value.
    struct Open {
        json* value;
        std::string key{};
    };

    bool put(json value) {
        if (!count()) return false;
        add(std::move(value));
        return true;
    }

    /// Whether one more value may come.
    bool count() {
        if (++values_ <= bounds_.values) return true;
        fault_.kind = JsonFault::Kind::too_large;
        return false;
    }

    /// A container does not move while one within it is open.
    json* add(json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        json& parent = *open_.back().value;
        if (parent.is_object()) {
            json& place = parent[open_.back().key];
            place = std::move(value);
            return &place;
        }
        parent.push_back(std::move(value));
        return &parent.back();
    }

    bool open(json container) {
        if (open_.size() == bounds_.depth) {
            fault_.kind = JsonFault::Kind::too_deep;
            return false;
        }
        if (!count()) return false;
        json* const added = add(std::move(container));
        open_.push_back({added});
        return true;
    }

    bool close() {
        open_.pop_back();
        return true;
    }

    void note_repeated() {
        constexpr std::size_t most = 10;
        fault_.kind = JsonFault::Kind::repeated;
        std::string path;
        for (const Open& each : open_) {
            if (each.value->is_object()) path += (path.empty() ? "" : ".") + each.key;
        }
        auto& known = fault_.repeated;
        if (known.size() < most && std::find(known.begin(), known.end(), path) == known.end())
            known.push_back(std::move(path));
    }

    std::string_view text_;
    const JsonBounds& bounds_;
    JsonFault& fault_;
    json root_;
    std::vector<Open> open_;
    std::size_t values_ = 0;
};

}  // namespace

std::string JsonFault::str() const {
    switch (kind) {
        case Kind::syntax:
            return place + ": " + reason;
        case Kind::number:
            return "the number " + reason.substr(0, 40) + " does not fit into 64 bits";
        case Kind::too_deep:
            return "its brackets are nested too deeply";
        case Kind::too_large:
            return "it is too large";
        case Kind::repeated:
            return repeated.front() + " is given twice";
        case Kind::none:
            break;
    }
    return {};
}

json read_json(std::string_view text, const JsonBounds& bounds, JsonFault* fault) {
    JsonFault own;
    JsonFault& why = fault != nullptr ? *fault : own;
    why = {};
    if (text.size() > bounds.bytes) {
        why.kind = JsonFault::Kind::too_large;
        return json(json::value_t::discarded);
    }
    BoundedBuilder builder(text, bounds, why);
    const bool whole = json::sax_parse(text.begin(), text.end(), &builder);
    if (!whole || why.kind != JsonFault::Kind::none) return json(json::value_t::discarded);
    return builder.take();
}

json read_json_file(const std::filesystem::path& file, const JsonBounds& bounds) {
    const auto text = read_regular_file(file, bounds.bytes + 1);  // one more than may be read
    return text ? read_json(*text, bounds) : json(json::value_t::discarded);
}

}  // namespace engine
