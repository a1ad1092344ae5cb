import CarpoolCaller
import CarpoolClient
import CarpoolJSON
import Testing

@testable import CarpoolCLI

struct FormPartTests {
    private func part(_ text: String) throws -> FormPart { try FormPart(text) }

    @Test func namesAreWhatStandsBeforeTheFirstSign() throws {
        #expect(try part("a=b=c").name == "a")
        #expect(try part("a=b=c").content == .text("b=c"))
        #expect(try part("a=").content == .text(""))
        for wrong in ["a", "=b", ""] { #expect(throws: UsageError.self) { try part(wrong) } }
    }

    @Test func filesMayHaveATypeAndAName() throws {
        let plain = try part("photo=@dir/a.jpg")
        #expect(plain.content == .file("dir/a.jpg"))
        #expect(plain.type == nil && plain.fileName == nil)
        let full = try part("photo=@a.jpg;type=image/jpeg; filename=b.jpg")
        #expect(full.content == .file("a.jpg"))
        #expect(full.type == "image/jpeg" && full.fileName == "b.jpg")
        for wrong in ["a=@", "a=@-"] { #expect(throws: UsageError.self) { try part(wrong) } }
    }

    @Test func aFileIsCalledAsItIs() throws {
        for (text, name) in [("a=@dir/LICENSE", "LICENSE"), ("a=@LICENSE", "LICENSE"), ("a=@b;filename=c", "c")] {
            var writer = JSONWriter()
            try part(text).write(to: &writer)
            #expect(try JSON.parse(writer.bytes)["file_name"]?.string == name)
        }
    }

    @Test func textMayHaveSemicolons() throws {
        #expect(try part("a=b;c").content == .text("b;c"))
        let typed = try part("a=b;c=d;type=text/csv")
        #expect(typed.content == .text("b;c=d"))
        #expect(typed.type == "text/csv")
    }
}
