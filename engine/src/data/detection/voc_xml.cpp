#include "data/detection/voc_xml.h"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "data/detection/detection_truth.h"
#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::size_t max_xml_depth = 64, max_value = 4096;

/// The state of one reading.
struct VocReading {
    XML_Parser parser = nullptr;
    VocAnnotation out{};
    std::vector<std::string> path{};  ///< open elements, outermost first
    std::string value{};              ///< text of the innermost one
    int box_sides = 0;                ///< of the object that is open, as bits
    std::optional<Message> wrong{};
    std::exception_ptr failed{};  ///< what a callback threw

    void stop(Message why) {
        wrong = std::move(why);
        XML_StopParser(parser, XML_FALSE);
    }
    bool is_at(std::initializer_list<std::string_view> names) const {
        return std::equal(path.begin(), path.end(), names.begin(), names.end());
    }
};

std::optional<double> number_of(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos) return std::nullopt;
    text = text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

/// Runs a callback of the parser, which must not throw. Some come after a stop: they do nothing.
template <typename Callback>
void call_back(void* user, const Callback& callback) {
    VocReading& reading = *static_cast<VocReading*>(user);
    if (reading.wrong || reading.failed) return;
    try {
        callback(reading);
    } catch (...) {
        reading.failed = std::current_exception();
        XML_StopParser(reading.parser, XML_FALSE);
    }
}

void begin_element(VocReading& reading, const char* name) {
    if (reading.path.size() >= max_xml_depth) return reading.stop(msg("it is nested too deeply"));
    reading.path.emplace_back(name);
    reading.value.clear();
    if (reading.path.front() != "annotation")
        return reading.stop(msg("its root is {} instead of annotation", name));
    if (!reading.is_at({"annotation", "object"})) return;
    if (std::ssize(reading.out.objects) >= DetectionTruth::max_objects)
        return reading.stop(msg("it has more than {} objects", DetectionTruth::max_objects));
    reading.out.objects.emplace_back();
    reading.box_sides = 0;
}

void add_text(VocReading& reading, const char* text, int length) {
    if (reading.value.size() < max_value)
        reading.value.append(text, static_cast<std::size_t>(length));
}

void read_size(VocReading& reading, std::int32_t& side) {
    const auto value = number_of(reading.value);
    if (value && *value >= 0 && *value <= 1'000'000) side = static_cast<std::int32_t>(*value);
}

void read_box_side(VocReading& reading) {
    constexpr std::array<std::string_view, 4> sides{"xmin", "ymin", "xmax", "ymax"};
    for (std::size_t i = 0; i < sides.size(); ++i) {
        if (reading.path.back() != sides[i]) continue;
        const auto value = number_of(reading.value);
        if (!value) return reading.stop(msg("{} is no number", reading.value));
        reading.out.objects.back().box[i] = *value;
        reading.box_sides |= 1 << i;
    }
}

void end_object(VocReading& reading) {
    if (reading.out.objects.back().name.empty() || reading.box_sides != 15)
        reading.stop(msg("object {} has no name or no box", reading.out.objects.size()));
}

void end_element(VocReading& reading) {
    if (reading.is_at({"annotation", "filename"})) reading.out.file_name = reading.value;
    if (reading.is_at({"annotation", "size", "width"})) read_size(reading, reading.out.width);
    if (reading.is_at({"annotation", "size", "height"})) read_size(reading, reading.out.height);
    if (reading.is_at({"annotation", "object", "name"}))
        reading.out.objects.back().name = reading.value;
    if (reading.is_at({"annotation", "object", "difficult"}))
        reading.out.objects.back().difficult = number_of(reading.value).value_or(0) != 0;
    if (reading.path.size() == 4 && reading.path[1] == "object" && reading.path[2] == "bndbox")
        read_box_side(reading);
    if (reading.is_at({"annotation", "object"})) end_object(reading);
    reading.path.pop_back();
    reading.value.clear();
}

void refuse_entity(void* user, const char*, int, const char*, int, const char*, const char*,
                   const char*, const char*) {
    call_back(user, [](VocReading& reading) { reading.stop(msg("it has entity definitions")); });
}

}  // namespace

VocAnnotation read_voc_xml(std::string_view text, const std::string& name) {
    const auto refuse = [&](const Message& why) {
        throw Error(ErrorCode::data, msg("{}: no annotation of Pascal VOC: {}", name, why.str()));
    };
    const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
        XML_ParserCreate(nullptr), &XML_ParserFree);
    if (!parser) throw Error(ErrorCode::memory, msg("There is no memory to read {}.", name));
    VocReading reading{.parser = parser.get()};
    XML_SetUserData(parser.get(), &reading);
    XML_SetElementHandler(
        parser.get(),
        [](void* user, const char* element, const char**) {
            call_back(user, [&](VocReading& at) { begin_element(at, element); });
        },
        [](void* user, const char*) { call_back(user, end_element); });
    XML_SetCharacterDataHandler(parser.get(), [](void* user, const char* piece, int length) {
        call_back(user, [&](VocReading& at) { add_text(at, piece, length); });
    });
    XML_SetEntityDeclHandler(parser.get(), refuse_entity);
    const auto status =
        XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
    if (reading.failed) std::rethrow_exception(reading.failed);
    if (reading.wrong) refuse(*reading.wrong);
    if (status != XML_STATUS_OK)
        refuse(msg("{} in line {}", XML_ErrorString(XML_GetErrorCode(parser.get())),
                   static_cast<std::int64_t>(XML_GetCurrentLineNumber(parser.get()))));
    return std::move(reading.out);
}

}  // namespace engine
