#include "io/coco/coco_results.h"

#include "engine/base/json.h"
#include "engine/base/plain_text.h"

namespace engine {

CocoResultsWriter::CocoResultsWriter(const std::filesystem::path& file, NamedBy by)
    : file_(file, by) {}

void CocoResultsWriter::add_box(const CocoId& image, std::int64_t category, double score,
                                const std::array<double, 4>& box) {
    add(image, category, score,
        "\"bbox\":[" + join(box, ",", [](double each) { return shortest_text(each); }) + "]");
}

void CocoResultsWriter::add_mask(const CocoId& image, std::int64_t category, double score,
                                 const RunLength& mask) {
    add(image, category, score,
        "\"segmentation\":{\"size\":[" + std::to_string(mask.height) + "," +
            std::to_string(mask.width) + "],\"counts\":" + dumped(json(run_length_text(mask))) +
            "}");
}

void CocoResultsWriter::add(const CocoId& image, std::int64_t category, double score,
                            const std::string& rest) {
    const auto* text = std::get_if<std::string>(&image);
    text_ += (first_ ? "\n" : ",\n");
    first_ = false;
    text_ += "{\"image_id\":" + (text != nullptr ? dumped(json(*text)) : coco_id_text(image)) +
             ",\"category_id\":" + std::to_string(category) + ",\"score\":" + shortest_text(score) +
             "," + rest + "}";
    constexpr std::size_t enough = std::size_t{1} << 20;
    if (text_.size() >= enough) flush();
}

void CocoResultsWriter::flush() {
    file_.write(std::string_view(text_));
    text_.clear();
}

void CocoResultsWriter::commit() {
    text_ += "\n]\n";
    flush();
    file_.commit();
}

}  // namespace engine
