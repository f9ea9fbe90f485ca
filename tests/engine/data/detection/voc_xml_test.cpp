#include "data/detection/voc_xml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string object(const std::string& name, const std::string& more = "") {
    return "<object><name>" + name + "</name>" + more +
           "<bndbox><xmin>1</xmin><ymin>2.5</ymin><xmax>30</xmax><ymax> 40 </ymax></bndbox>"
           "</object>";
}
std::string annotation(const std::string& inside) {
    return "<annotation><filename>a.jpg</filename><size><width>50</width><height>60</height>"
           "<depth>3</depth></size>" +
           inside + "</annotation>";
}
std::string problem(const std::string& text) {
    try {
        read_voc_xml(text, "a.xml");
    } catch (const Error& error) {
        return error.message().str();
    }
    return "none";
}

TEST(VocXml, ReadsSizeNamesAndBoxes) {
    const VocAnnotation out =
        read_voc_xml("<?xml version=\"1.0\"?>\n" +
                         annotation(object("cat", "<difficult>1</difficult>") +
                                    object("dog", "<part><name>head</name><bndbox><xmin>9</xmin>"
                                                  "</bndbox></part><difficult>0</difficult>")),
                     "a.xml");
    EXPECT_EQ(out.file_name, "a.jpg");
    EXPECT_EQ(out.width, 50);
    EXPECT_EQ(out.height, 60);
    ASSERT_EQ(out.objects.size(), 2u);
    EXPECT_EQ(out.objects[0].name, "cat");
    EXPECT_TRUE(out.objects[0].difficult);
    EXPECT_THAT(out.objects[0].box, ElementsAre(1, 2.5, 30, 40));
    EXPECT_EQ(out.objects[1].name, "dog") << "the name of a part is not that of the object";
    EXPECT_THAT(out.objects[1].box, ElementsAre(1, 2.5, 30, 40));
}

TEST(VocXml, RefusesWhatIsNoAnnotation) {
    EXPECT_THAT(problem("no XML"), HasSubstr("a.xml: no annotation of Pascal VOC: "));
    EXPECT_THAT(problem(annotation("<object>")), HasSubstr("in line 1"));
    EXPECT_THAT(problem(annotation("<object><name>x</name></object>")),
                HasSubstr("object 1 has no name or no box"));
    EXPECT_THAT(problem(annotation("<object><name>x</name><bndbox><xmin>nan</xmin></bndbox>"
                                   "</object>")),
                HasSubstr("nan is no number"));
    EXPECT_THAT(problem(std::string(100, '<')), HasSubstr("a.xml: "));
    std::string deep = "<annotation>";
    for (int i = 0; i < 100; ++i) deep += "<a>";
    EXPECT_THAT(problem(deep), HasSubstr("nested too deeply"));
    std::string many;
    for (int i = 0; i < 2001; ++i) many += object("x");
    EXPECT_THAT(problem(annotation(many)), HasSubstr("more than 2000 objects"));
}

TEST(VocXml, RefusesAnotherRoot) {
    EXPECT_THAT(problem("<html/>"), HasSubstr("its root is html instead of annotation"));
    EXPECT_THAT(problem("<annotations>" + annotation("") + "</annotations>"),
                HasSubstr("its root is annotations"));
    EXPECT_THAT(problem("<a><object><bndbox><xmin>1</xmin></bndbox></object></a>"),
                HasSubstr("its root is a instead"))
        << "a side of a box without an object";
}

TEST(VocXml, RefusesEntityDefinitions) {
    EXPECT_THAT(problem("<!DOCTYPE a [<!ENTITY b \"x\">]>" + annotation(object("&b;"))),
                HasSubstr("it has entity definitions"));
}

}  // namespace
}  // namespace engine
