import Testing

/// The layering tests rest on this reader, so it has cases of its own.
struct CodeOnlyTests {
    @Test(arguments: [
        ("let a = 1 // try! it", "let a = 1           "),
        ("/* a /* b */ c */ x", "                  x"),
        (#"f("try! \(g("}")) {")"#, "f(                  )"),
        (##"f(#"a"b"#)"##, "f(       )"),
        ("\"\"\"\n{\n\"\"\"", "   \n \n   "),
        (#"a("\\") { b("\"{") }"#, "a(    ) { b(     ) }"),
    ])
    func blanksCommentsAndLiterals(_ text: String, _ expected: String) {
        #expect(CodeOnly.blank(text) == expected)
    }

    @Test func measuresFunctions() {
        let file = SourceFile(
            path: "X.swift",
            text: """
                struct X {
                    func a() { b() }
                    public static func b(
                        c: Int
                    ) throws -> Int {
                        if c > 1 { return 2 }
                        return 1
                    }
                    init?(d: Int) {
                        return nil
                    }
                }
                protocol Y {
                    func z()
                    var w: Int { get }
                }
                """)
        let found = FunctionLengths.measure(file).map { "\($0.name) \($0.start) \($0.lines)" }
        #expect(found == ["func a 2 1", "func b 3 6", "init? 9 3"])
    }

    @Test func readsImports() {
        let file = SourceFile(
            path: "X.swift",
            text: "public import A\n@preconcurrency import B\nimport struct C.D\n// import E\nimport F\n")
        #expect(file.imports.map(\.module) == ["A", "B", "C", "F"])
    }
}
