#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/detection_report.h"
#include "engine/io/picture.h"
#include "engine/runs/run_store.h"

namespace engine {

struct StepCapsule;

/// The kind of input that a trained model takes, and how to ask a person for it.
struct InputForm {
    enum class Kind {
        picture,
        scene,  ///< a picture of any size, in which it finds objects
        row,
        text,         ///< which is continued
        masked_text,  ///< whose masks are filled
        random,       ///< nothing: it draws pictures from random numbers
        none,
    };
    /// A column of a table.
    struct Column {
        std::string name;
        std::vector<std::string> categories;  ///< empty: a number
        double usual = 0;                     ///< of a number: its mean in training
    };
    Kind kind = Kind::none;
    int width = 0, height = 0, channels = 0;  ///< of a picture
    /// For a picture: the length to which its shorter side is scaled before the centre is taken. 0:
    /// it is scaled until it covers the input.
    int short_side = 0;
    int long_side = 0;  ///< of a scene: limit for the longer side
    Alpha alpha = Alpha::over_white;  ///< of a picture file
    std::vector<Column> columns;      ///< of a row
    bool words = false;               ///< text is read by words, else by characters
    bool tokens = false;              ///< by the tokens of a tokenizer; `words` is set too
    std::string mask;                 ///< of a masked text: what stands for a missing word
    std::int64_t longest = 0;         ///< of a masked text: words, characters or tokens that fit
};

/// The picture at the size of the model's input, as the pictures of its test part were.
Picture fit_to(const InputForm& form, const Picture& picture);

/// An object that a model found in a picture, in its pixels.
struct FoundObject {
    std::int32_t label = 0;       ///< from 1; its name is TrainedModel::classes()[label - 1]
    double score = 0;             ///< from 0 to 1
    std::array<double, 4> box{};  ///< x, y, width, height
    std::string mask{};           ///< COCO's compressed runs; empty: the model has no masks
    /// The mask's probabilities over the box: a square of rows. Empty as `mask`.
    std::vector<float> shape{};
};

/// The picture with masks and boxes of objects in the colours of their classes.
Picture with_objects(Picture picture, std::span<const FoundObject> found);

/// A model's answer to one input.
struct Answer {
    std::vector<double> probabilities;  ///< by class; empty: a number is predicted
    std::vector<double> values;         ///< predicted, in original units
    Picture picture;                    ///< drawn by a model that draws its input again
    std::vector<FoundObject> found;     ///< by falling score

    /// The most probable class; -1 without classes, and if the output is NaN: it is no prediction.
    std::int64_t best() const;
};

/// How text goes on.
struct GenerateOptions {
    std::string prompt;
    std::int64_t length = 200;  ///< words, characters or tokens
    double temperature = 1;     ///< 0: always the most probable one
    std::int64_t top_k = 0;     ///< of the most probable ones; 0: of all
    std::int64_t seed = 1;
};

/// Candidates for one [MASK] of a text.
struct FilledMask {
    struct Word {
        std::string text;
        double probability = 0;
    };
    std::int64_t place = 0;   ///< of the mask, in words, characters or tokens of the text
    std::vector<Word> words;  ///< the most probable first
};

/// A sample that the model got most wrong.
struct HardSample {
    std::int64_t index = 0;  ///< in its part
    double loss = 0;
    std::int64_t label = -1;       ///< class, or -1
    std::int64_t predicted = -1;   ///< class; -1: none, or the output is NaN
    double probability = 0;        ///< of the predicted class
    double wanted = 0, value = 0;  ///< of a number
    Picture picture;               ///< empty for data that are no images
};

/// How a model does on a part of its data.
struct PartReport {
    std::string part;  ///< "test" or "validation"
    std::int64_t samples = 0;
    PartFigures figures;
    /// Samples by class (row) and predicted class (column); empty without classes.
    std::vector<std::vector<std::int64_t>> confusion;
    /// By class the samples whose output is NaN, which is no prediction; empty if there are none.
    std::vector<std::int64_t> unpredicted;
    std::vector<HardSample> hardest;  ///< largest loss first
    std::vector<Message> notes;       ///< how the data differ from those of the run
    std::optional<DetectionReport> detections;  ///< of a detector
    std::vector<std::filesystem::path> files;   ///< that hold its results

    /// Precision of a class, from the confusion matrix; NaN where it is undefined.
    double precision(std::size_t of_class) const;
    double recall(std::size_t of_class) const;
    double f1(std::size_t of_class) const;
    std::int64_t support(std::size_t of_class) const;
};

/// A row of a table to predict from: its cells by column.
struct InputRow {
    std::int64_t line = 0;  ///< of the file, from 1
    std::map<std::string, std::string> cells;
    Message problem;       ///< why it cannot be predicted; empty: it can
    bool dropped = false;  ///< because it lacks a value, as in training: no failure
};

/// The rows of a file, and what may surprise in how it is read.
struct InputTable {
    std::vector<InputRow> rows;
    std::vector<Message> notes;
};

/// The model of a run at a checkpoint, computing in the run's precision. One thread at a time.
class TrainedModel {
public:
    /// `checkpoint`: "last", "best" or a number of steps. Throws Error(data) if the run has no such
    /// checkpoint, or if its folder does not describe the model's inputs.
    explicit TrainedModel(const std::filesystem::path& run_folder,
                          const std::string& checkpoint = "last",
                          const std::string& device = "auto");
    /// The model before a captured step, such as the next one of a run that is paused. The folder
    /// is the run's.
    TrainedModel(const std::filesystem::path& run_folder, const StepCapsule& step,
                 const std::string& device = "auto");
    ~TrainedModel();
    TrainedModel(const TrainedModel&) = delete;
    TrainedModel& operator=(const TrainedModel&) = delete;

    const RunConfig& config() const;
    std::int64_t step() const;
    const std::string& task() const;  ///< kind
    const std::vector<Metric>& metrics() const;
    const std::vector<std::string>& classes() const;
    const std::string& target() const;  ///< name of the predicted number
    const InputForm& form() const;

    /// fit_to() fits the picture to the model's input; a `framed` one, such as a drawing, is only
    /// scaled. A detector takes it at its size. Throws Error(value) unless the model takes a picture.
    Answer answer(const Picture& picture, bool framed = false);
    /// Cells by column; a missing number takes its usual value. Throws Error(value) for a cell that
    /// does not fit its column.
    Answer answer(const std::map<std::string, std::string>& row);
    /// The rows of a CSV file (also .gz, .xz and .zip) for answer(), by the names in its first row,
    /// or by position where it has no header. A missing value is treated as in training: a usual
    /// one stands for it, or the row is dropped or has a problem, as a row with any other
    /// unreadable cell. Throws Error(data) for a file that is no table or lacks a column of the
    /// model.
    InputTable read_rows(const std::filesystem::path& file) const;
    /// Continues the prompt, a piece at a time, until the length is reached or `take` returns
    /// false. Throws Error(value) unless the model continues text.
    void generate(const GenerateOptions& options,
                  const std::function<bool(const std::string&)>& take);

    /// A sentence on the words or characters of a text to continue or to fill that the model does
    /// not know; empty if it knows all.
    Message unknown_in(const std::string& text) const;

    /// Whether the model draws pictures from random numbers.
    bool draws() const;
    /// Draws `count` pictures, 1 to 64, from random numbers of this seed, as one. Throws
    /// Error(value) unless draws().
    Picture draw(std::int64_t count, std::int64_t seed);
    /// Whether it fills masks in a text.
    bool fills_masks() const;
    /// The `most` most probable words for each [MASK] of a text. Throws Error(value) unless the
    /// model fills masks, and for a text without one or longer than the model reads.
    std::vector<FilledMask> fill(const std::string& text, std::int64_t most);

    /// Evaluates the validation or the test part, opening the data set as the run did. Calls
    /// `progress` with the share done; if it returns false, the evaluation stops and the report
    /// covers the samples so far. `results`: of a detector, begin of the names of files that its
    /// detections are written to, as COCO's results; empty: none. Throws Error; Error(data) for
    /// other columns or classes than the run's, Error(settings) for results of a task that has none,
    /// and unless `accept_data` ChangedData for another number of samples.
    PartReport evaluate(const std::string& part = "test", std::size_t hardest = 24,
                        const std::function<bool(double)>& progress = {}, bool accept_data = false,
                        const std::filesystem::path& results = {});

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace engine
