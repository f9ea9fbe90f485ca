#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/file/mapped_file.h"

namespace engine {

/// A tensor of an ONNX file. Its numbers stay in the file until they are asked for.
struct OnnxTensor {
    enum Type : std::int32_t {
        f32 = 1, u8 = 2, i8 = 3, u16 = 4, i16 = 5, i32 = 6, i64 = 7, string = 8, boolean = 9, f16 = 10, f64 = 11, u32 = 12, u64 = 13, bf16 = 16
    };
    std::string name{};
    std::int32_t type = 0;
    std::vector<std::int64_t> dims{};
    std::int64_t count = 0;  ///< numbers
    std::string_view raw{};  ///< little-endian
    std::string_view packed{};  ///< or as protobuf's numbers: floats, doubles or varints
    std::string location{};     ///< or in this file, from `offset`
    std::int64_t offset = 0, length = -1;

    bool is_real() const { return type == f32 || type == f16 || type == f64 || type == bf16; }
    bool is_whole() const { return type >= u8 && type <= u64 && type != string && !is_real(); }
};

struct OnnxBody;

struct OnnxNode {
    struct Attribute {
        std::int32_t type = 0;
        std::int64_t whole = 0;
        double number = 0;
        std::string text{};
        std::vector<std::int64_t> wholes{};
        std::vector<double> numbers{};
        std::vector<std::string> words{};
        std::optional<OnnxTensor> tensor{};
        std::shared_ptr<const OnnxBody> graph{};
        std::string reference{};  ///< in a function: the attribute of its call that stands here
    };
    std::string op{}, domain{}, name{}, overload{};
    std::string scopes{};  ///< PyTorch's modules around it, as its exporter writes them; empty: unknown
    std::vector<std::string> inputs{}, outputs{};
    std::map<std::string, Attribute> attributes{};

    std::int64_t whole(const char* attribute, std::int64_t usual) const;
    double number(const char* attribute, double usual) const;
    std::string text(const char* attribute, const char* usual) const;
    std::vector<std::int64_t> wholes(const char* attribute) const;
    std::vector<std::string> words(const char* attribute) const;
    bool has(const char* attribute) const { return attributes.contains(attribute); }
};

struct OnnxPort {
    std::string name{};
    std::int32_t type = 0;  ///< of its numbers; 0: no tensor
    std::vector<std::variant<std::int64_t, std::string>> dims{};
};

/// Nodes in their order, and the tensors that they take.
struct OnnxBody {
    std::vector<OnnxNode> nodes{};
    std::vector<OnnxTensor> tensors{};
    std::vector<OnnxPort> inputs{}, outputs{};
    std::int64_t sparse = 0;
};

/// An operator that the file defines by others.
struct OnnxFunction {
    std::string name{}, domain{}, overload{};
    std::vector<std::string> inputs{}, outputs{};
    std::map<std::string, OnnxNode::Attribute> defaults{};
    std::vector<OnnxNode> nodes{};
};

/// An ONNX model, mapped and checked: sizes, names and the form of each message. The operators are
/// not. Throws Error(data) with a sentence for a file that is missing, damaged or too large.
class OnnxFile : public OnnxBody {
public:
    static constexpr std::int64_t most_bytes = std::int64_t{1} << 31, most_parts = 100'000, most_text = 1 << 20, most_depth = 8;

    /// `data`: the file that holds tensors outside of the model, chosen by a person; empty: the one
    /// beside the model that it names.
    static OnnxFile open(const std::filesystem::path& path, const std::filesystem::path& data = {});

    std::int64_t opset = 0;
    std::string producer{};
    std::vector<OnnxFunction> functions{};

    std::int64_t bytes() const { return static_cast<std::int64_t>(map_.size()); }
    /// The numbers of a tensor in f32.
    std::vector<float> floats(const OnnxTensor& tensor) const;
    /// The numbers of a tensor of whole numbers or truths.
    std::vector<std::int64_t> wholes(const OnnxTensor& tensor) const;
    /// Throws if the file lost its end meanwhile.
    void check_whole() const;

private:
    void read_model();
    std::string outside_bytes(const OnnxTensor& tensor) const;
    std::string bytes_of(const OnnxTensor& tensor) const;

    std::filesystem::path path_{}, data_{};
    Mapping map_{};
};

}  // namespace engine
