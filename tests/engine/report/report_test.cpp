#include "engine/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/session/session.h"
#include "support/device_support.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Reports : public testing::Test {
protected:
    RunSummary train(RunConfig config) {
        Session session(config, std::make_shared<ComputeThread>(), store_);
        session.post(Command::start);
        EXPECT_TRUE(session.wait(600));
        return *store_->find(session.run());
    }
    static RunConfig spirals(const std::string& precision) {
        RunConfig config = test::small_run("mlp", precision);
        config.scaler.init_scale = 1 << 24;
        config.epochs = 2;
        config.dataset.train_limit = 320;
        return config;
    }

    test_support::TempFolder folder_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(folder_ / "runs");
};

std::string text_of(const ReportTable& table) {
    std::string out;
    for (const auto& row : table.rows) {
        for (const Message& cell : row) out += cell.str() + " | ";
        out += "\n";
    }
    return out;
}

TEST_F(Reports, OfAComparisonHaveItsVerdictTableCurvesAndSkips) {
    const RunSummary full = train(spirals("fp32")), mixed = train(spirals("amp-fp16"));
    const Report report = make_report({full, mixed});
    EXPECT_THAT(report.verdicts, SizeIs(1));
    EXPECT_THAT(text_of(report.runs),
                testing::ContainsRegex("Test accuracy [|] [0-9.]+ % [|] [0-9.]+ % [|]"));
    EXPECT_THAT(text_of(report.runs), HasSubstr("Device | C")) << "CPU, as in the window";
    EXPECT_THAT(text_of(report.runs),
                HasSubstr("Skipped steps | 0 | " + std::to_string(mixed.skipped)));
    EXPECT_THAT(report.plots, SizeIs(5));
    EXPECT_THAT(text_of(report.differences), HasSubstr("Precision | FP32 | AMP FP16 |"));
    ASSERT_THAT(report.skips, SizeIs(2));
    EXPECT_THAT(report.skips[0].rows, IsEmpty());
    EXPECT_EQ(static_cast<std::int64_t>(report.skips[1].rows.size()), mixed.skipped + 1);
    EXPECT_THAT(text_of(report.skips[1]),
                HasSubstr("Calibrating: the scale was still too large. More skips until it is "
                          "2¹⁶ = 65,536, the default: about 7."));
    EXPECT_THAT(text_of(report.skips[1]), HasSubstr("scale 2²"));
    EXPECT_THAT(text_of(report.skips[1]), Not(HasSubstr("e+0")));
    EXPECT_THAT(report.plots[2].svg, HasSubstr("#2b6cb0")) << "the window's colour of FP32";
    EXPECT_THAT(report.plots[2].svg, HasSubstr("#bf5600"));
    EXPECT_THAT(report.epochs.rows, SizeIs(1 + 2 * 2));
}

TEST_F(Reports, OfOneRunHaveNoVerdictAndNoDifferences) {
    RunSummary run = train(spirals("fp32"));
    run.metrics = {{.key = "rmse", .title = "RMSE"}};
    const Report report = make_report({run});
    EXPECT_THAT(text_of(report.runs), HasSubstr("Test RMSE | – |")) << "by its title";
    EXPECT_THAT(report.verdicts, IsEmpty());
    EXPECT_THAT(report.differences.rows, IsEmpty());
    EXPECT_THROW(make_report({}), Error);
}

TEST_F(Reports, OfAnotherProgramsRunTellOnlyWhatThatProgramTold) {
    RunConfig config = spirals("fp32");
    const RunSummary own = train(config);
    config = spirals("amp-fp16");
    config.batch_size = 16;
    RunSummary watched = train(config);
    watched.origin =
        RunOrigin{.program = "PyTorch 2.15.0", .model = "ResNet", .settings = {{"workers", "3"}}};
    const Report report = make_report({own, watched});
    EXPECT_THAT(report.settings[0].json, HasSubstr("\"batch_size\""));
    EXPECT_THAT(report.settings[1].json, Not(HasSubstr("\"batch_size\"")));
    EXPECT_THAT(report.settings[1].json, HasSubstr("\"program\": \"PyTorch 2.15.0\""));
    EXPECT_THAT(report.settings[1].json, HasSubstr("\"workers\": \"3\""));
    EXPECT_THAT(report.settings[1].json, HasSubstr("\"preset\": \"amp-fp16\""));
    EXPECT_THAT(text_of(report.differences), HasSubstr("Precision | FP32 | AMP FP16 |"));
    EXPECT_THAT(text_of(report.differences), Not(HasSubstr("Batch size")));
    EXPECT_THAT(text_of(report.runs), HasSubstr("Data set and model | Spirals, MLP | -, ResNet |"));
    EXPECT_THAT(text_of(report.runs), HasSubstr("Seed | 1 | – |"));
}

TEST_F(Reports, AreOneFileWithoutReferences) {
    RunSummary run = train(spirals("amp-fp16"));
    run.title = "<b>mine</b>";
    run.notes = "see http://example.org & \"more\"";
    const std::string html = report_html(make_report({run}));
    EXPECT_THAT(html, HasSubstr("&lt;b&gt;mine&lt;/b&gt;"));
    EXPECT_THAT(html, Not(HasSubstr("<b>mine")));
    EXPECT_THAT(html, HasSubstr("<svg "));
    for (const char* reference : {"src=", "href=", "url(", "<script", "@import"})
        EXPECT_THAT(html, Not(HasSubstr(reference))) << reference;
    EXPECT_THAT(html, HasSubstr("&quot;kind&quot;: &quot;spirals&quot;")) << "its settings";
}

TEST_F(Reports, SpeakTheLanguageThatTheyAreTranslatedTo) {
    const RunSummary run = train(spirals("fp32"));
    ReportHtmlOptions options;
    options.language = "zh";
    options.translate = [](const Message& message) {
        return message.text == "Test loss" ? "测试损失" : message.str();
    };
    options.plot = [](std::size_t index) { return "[plot " + std::to_string(index) + "]"; };
    const std::string html = report_html(make_report({run}), options);
    EXPECT_THAT(html, HasSubstr("<html lang=\"zh\">"));
    EXPECT_THAT(html, HasSubstr("测试损失"));
    EXPECT_THAT(html, HasSubstr("[plot 2]"));
    EXPECT_THAT(html, Not(HasSubstr("<svg ")));
}

}  // namespace
}  // namespace engine
