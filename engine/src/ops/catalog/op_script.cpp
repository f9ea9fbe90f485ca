#include "engine/ops/op_script.h"

#include <algorithm>
#include <istream>
#include <new>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "io/safetensors/tensor_file.h"
#include "ops/catalog/op_script.h"
#include "ops/catalog/quantize_case.h"
#include "tensor/device.h"

namespace engine {
namespace {

using nlohmann::json;

/// One line of the script.
struct Line {
    OpCase request;
    std::filesystem::path in, out;
};

[[noreturn]] void refuse(const std::string& field, const std::string& wanted) {
    throw Error(ErrorCode::value, field + ": " + wanted);
}

/// Numbers above the i64 range are read as unsigned.
bool is_whole(const json& value) {
    return value.is_number_integer() &&
           (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX);
}

template <typename T>
std::vector<T> numbers(const json& value) {
    std::vector<T> out;
    for (const auto& item : value) out.push_back(item.get<T>());
    return out;
}

AttrValue attribute(const std::string& name, const json& value) {
    if (value.is_null()) return std::monostate{};
    if (value.is_boolean()) return value.get<bool>();
    if (is_whole(value)) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    if (value.is_array()) {
        bool whole = true;
        for (const auto& item : value) {
            if (!item.is_number()) refuse("attrs." + name, "a list holds numbers only");
            whole = whole && is_whole(item);
        }
        if (whole) return numbers<std::int64_t>(value);
        return numbers<double>(value);
    }
    refuse("attrs." + name, "a number, a word, true, false, null or a list of numbers");
}

/// "torch.float16", "float16" or "f16".
std::string short_dtype(std::string text) {
    if (text.starts_with("torch.")) text = text.substr(6);
    static const std::map<std::string, std::string> names{
        {"float64", "f64"}, {"double", "f64"},    {"float32", "f32"}, {"float", "f32"},
        {"float16", "f16"}, {"half", "f16"},      {"int64", "i64"},   {"long", "i64"},
        {"int32", "i32"},   {"bfloat16", "bf16"}, {"uint8", "u8"}};
    const auto found = names.find(text);
    return found == names.end() ? text : found->second;
}

void read_attributes(const json& attrs, OpCase& request) {
    for (const auto& [name, value] : attrs.items()) {
        if (name == "strides" && value.is_object()) {
            for (const auto& [argument, strides] : value.items()) {
                if (!strides.is_array() || strides.size() > Dims::max_rank ||
                    !std::all_of(strides.begin(), strides.end(), is_whole))
                    refuse("attrs.strides", "a list of at most 8 whole numbers by argument");
                request.strides[argument] = Strides(numbers<std::int64_t>(strides));
            }
        } else if (name == "dtype" && value.is_string()) {
            request.attrs[name] = short_dtype(value.get<std::string>());
        } else {
            request.attrs[name] = attribute(name, value);
        }
    }
}

std::optional<DType> read_autocast(const json& line) {
    const auto found = line.find("autocast");
    if (found == line.end() || found->is_null()) return std::nullopt;
    if (*found == "fp16") return DType::f16;
    if (*found == "bf16") return DType::bf16;
    refuse("autocast", "null, fp16 or bf16, not " + found->dump());
}

Device read_device(const json& line) { return resolve_device(line.value("device", "cpu")); }

/// A case nests three deep. Deeper brackets are rejected while reading, before anything recurses
/// through them.
json parse(const std::string& text) {
    JsonFault fault;
    json line = read_json(text, {.depth = 8}, &fault);
    if (line.is_discarded()) refuse("case", fault.str());
    return line;
}

std::optional<Recipe> read_recipe(const json& line, const RecipeByName& recipe_of) {
    const auto found = line.find("recipe");
    if (found == line.end() || found->is_null()) return std::nullopt;
    const std::string name = found->get<std::string>();
    std::optional<Recipe> out = recipe_of ? recipe_of(name) : std::nullopt;
    if (!out) refuse("recipe", "null or a name of halftone recipes, not " + name);
    return out;
}

Line read_line(const std::string& text, const RecipeByName& recipe_of) {
    const json line = parse(text);
    if (!line.is_object()) refuse("case", "must be a JSON object");
    Line out;
    out.request.op = line.at("op").get<std::string>();
    out.in = line.at("in").get<std::string>();
    out.out = line.at("out").get<std::string>();
    if (const auto attrs = line.find("attrs"); attrs != line.end() && !attrs->is_null())
        read_attributes(*attrs, out.request);
    out.request.autocast = read_autocast(line);
    out.request.grad_grad = line.value("grad_grad", false);
    out.request.grad = line.value("grad", false) || out.request.grad_grad;
    out.request.device = read_device(line);
    out.request.recipe = read_recipe(line, recipe_of);
    if (out.request.recipe && out.request.device.kind != Device::Kind::cpu)
        refuse("recipe", "recipes are computed on a CPU");
    return out;
}

TensorMap results_of(const Line& line) {
    const TensorMap file = load_tensors(line.in);
    return line.request.op == quantize_case_name ? run_quantize_case(line.request, file)
                                                 : run_op_case(line.request, file);
}

json run_line(const std::string& text, const RecipeByName& recipe_of) {
    try {
        const Line line = read_line(text, recipe_of);
        save_tensors(line.out, results_of(line));
        return {{"out", line.out.string()}};
    } catch (const Error& error) {
        const std::string message = error.what(), hint = error.hint().str();
        const std::string between = hint.empty() ? "" : message.ends_with('.') ? " " : ". ";
        return {{"error", message + between + hint}};
    } catch (const json::exception& error) {
        // Its sentence without its code: "[json.exception.type_error.302] type must be string".
        const std::string reason = error.what();
        const auto code = reason.find("] ");
        return {{"error", "the case is not as it should be: " +
                              reason.substr(code == std::string::npos ? 0 : code + 2)}};
    } catch (const std::bad_alloc&) {
        return {{"error", "The machine is out of memory. Try smaller sizes."}};
    } catch (const std::exception& error) {  // a kernel's, or that of a library below one
        return {{"error", error.what()}};
    }
}

}  // namespace

int run_op_script(std::istream& cases, std::ostream& results) {
    return run_op_script(cases, results, nullptr);
}

int run_op_script(std::istream& cases, std::ostream& results, const RecipeByName& recipe_of) {
    std::string text;
    while (std::getline(cases, text)) {
        if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
        // A message may quote bytes of a damaged file: they must not break the line.
        results << run_line(text, recipe_of).dump(-1, ' ', false, json::error_handler_t::replace) << '\n'
                << std::flush;
        if (!results) return exit_code(ErrorCode::io);
    }
    return 0;
}

}  // namespace engine
