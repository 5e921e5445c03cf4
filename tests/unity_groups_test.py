"""The groups of a unity build (tools/unity_groups): files that would clash are separate, others together."""
import importlib.machinery
import importlib.util
import os
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOADER = importlib.machinery.SourceFileLoader("unity_groups", os.path.join(ROOT, "tools/unity_groups"))
SPEC = importlib.util.spec_from_loader("unity_groups", LOADER)
TOOL = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(TOOL)

PRIVATE = "namespace rightsize {\nnamespace {\n%s\n}  // namespace\n}\n"
PUBLIC = "namespace rightsize {\n%s\n}\n"


def groups(*texts):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(texts):
            paths.append(os.path.join(folder, f"{number}.cc"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(text)
        return TOOL.groups(paths)


class Groups(unittest.TestCase):
    DECLARATIONS = ["int helper(int x) { return x; }", "constexpr double helper = 0.5;", "struct helper { int a; };", "using helper = std::vector<int>;",
                    "enum helper { kOne };", "const std::map<std::string, int> helper = {{\"a\", 1}};", "constexpr int helper[] = {1, 2};",
                    "template <class T>\nT helper(const std::vector<T>& all) { return all[0]; }", "class helper final : public Base {};",
                    "std::optional<std::pair<int, int>> helper(std::string_view text) { return {}; }"]

    def test_a_name_used_by_both_keeps_files_apart(self):
        for mine in self.DECLARATIONS:
            for other in self.DECLARATIONS:
                self.assertEqual(groups(PRIVATE % mine, PRIVATE % other), [0, 1], (mine, other))
            self.assertEqual(groups(PRIVATE % mine, PUBLIC % "int f() { return helper(1); }"), [0, 1], mine)

    def test_files_without_common_names_are_together(self):
        self.assertEqual(groups(PRIVATE % "int one() { return 1; }", PRIVATE % "int two() { return 2; }"), [0, 0])

    def test_members_comments_strings_and_other_scopes_do_not_clash(self):
        for use in ("int f(X x) { return x.helper; }", "int f(X* x) { return x->helper(); }", "// helper\nint f();", 'auto f() { return "helper"; }',
                    "int f() { return other::helper(); }"):
            self.assertEqual(groups(PRIVATE % "int helper() { return 1; }", PUBLIC % use), [0, 0], use)

    def test_enumerators_are_names_too(self):
        self.assertEqual(groups(PRIVATE % "enum Kind { kRed, kBlue };", PRIVATE % "constexpr int kBlue = 1;"), [0, 1])

    def test_groups_have_a_limit(self):
        many = groups(*(PRIVATE % f"int helper_{i}() {{ return {i}; }}" for i in range(20)))
        self.assertEqual(len(set(many)), -(-20 // TOOL.MOST_FILES))

    def test_files_with_macros_are_alone(self):
        self.assertEqual(groups("#define X 1\nint a() { return X; }\n", "int b() { return 2; }\n"), [0, 1])


if __name__ == "__main__":
    unittest.main()
