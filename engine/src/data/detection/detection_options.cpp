#include "data/detection/detection_options.h"

#include "data/dataset_descriptor.h"
#include "data/detection/detection_sample.h"
#include "data/image/image_transforms.h"

namespace engine {

std::vector<OptionSpec> detection_options() {
    return {option("short_side", "Short side", std::vector<std::int64_t>{800},
                   "Shorter side of the images after resizing. Of several, training draws one for "
                   "each picture, and evaluation takes the last.",
                   opt::unit("pixels"), opt::between(64, 2048), opt::prominent),
            option("long_side", "Long side", std::int64_t{1333},
                   "Limit for the longer side of the images: a long picture gets a shorter short "
                   "side.",
                   opt::unit("pixels"), opt::between(64, 4096), opt::prominent),
            option("canvas", "Canvas", std::string("batch"),
                   "Size of the images that the model gets, in which smaller pictures are padded.",
                   opt::one_of({{"batch", "By batch",
                                 "The largest picture of the batch, rounded up to 32 pixels."},
                                {"fixed", "Fixed",
                                 "One size for the run, so that a step can be captured on a "
                                 "GPU."}})),
            option("aspect_groups", "Group by shape", true,
                   "A batch for training holds pictures of much the same height over width, so "
                   "that little of its canvas is padding. The last pictures of an epoch go "
                   "together."),
            option("classes", "Classes", std::vector<std::string>{},
                   "Learn only these classes. Empty: all."),
            option("keep_empty", "Keep empty pictures", false,
                   "Trains on pictures without objects, too. They are always evaluated."),
            option("test_share", "Test share", 0.2,
                   "Fraction of the pictures held out as the test set, drawn by the seed, where "
                   "the files have no test part of their own.",
                   opt::from_to_below(0, 1)),
            option("unreadable", "Unreadable pictures", std::string("refuse"),
                   "What to do about pictures that are missing, or whose header cannot be read or "
                   "does not fit their annotations.",
                   opt::one_of({{"refuse", "Report an error"},
                                {"skip", "Skip", "They are left out with a warning."}})),
            option("damaged", "Damaged pictures", std::string("skip"),
                   "What to do about pictures whose damage only decoding shows, during the run.",
                   opt::one_of({{"skip", "Skip",
                                 "The next picture of the order takes the place, and the run "
                                 "counts them. An evaluation leaves them out."},
                                {"stop", "Stop the run"}})),
            color_jitter_option()};
}

Schema typical_detection_schema() {
    return detection_schema({"object"}, {800, 1344}, {20, 20'000}, /*by_batch=*/true);
}

}  // namespace engine
