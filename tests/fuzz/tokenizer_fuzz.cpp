#include <cstdint>
#include <string>

#include "data/text/tokenizer_pipeline.h"
#include "engine/base/error.h"

// A tokenizer.json of any bytes is refused with Error(data), or it encodes a text and decodes it
// again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using engine::TokenizerPipeline;
    try {
        const TokenizerPipeline tokenizer(std::string(reinterpret_cast<const char*>(data), size),
                                          "fuzz");
        const auto encoding =
            tokenizer.encode("The quick [MASK] f\u00F6x, 42 \u6F22\u5B57 \U0001F600's\n",
                             TokenizerPipeline::Frames::around_lines);
        tokenizer.decode(encoding.ids, true);
    } catch (const engine::Error&) {
    }
    return 0;
}
