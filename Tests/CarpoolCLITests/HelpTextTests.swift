import CarpoolCaller
import CarpoolJSON
import Glibc
import Testing

@testable import CarpoolCLI

/// The help is made from the parser's tables; the pages of docs/cli quote the help.
struct HelpTextTests {
    private static let commands = CommandList.all.map { $0.name }

    @Test(arguments: commands) func everyCommandHasHelpThatFitsATerminal(_ name: String) throws {
        let command = try CommandList.find(name)
        let help = HelpText.of(command)
        #expect(help.hasPrefix("Usage: carpool \(name)"))
        for option in command.specifications { #expect(help.contains(option.long)) }
        for line in help.split(separator: "\n") { #expect(line.count <= 110, "\(line)") }
        #expect(HelpText.overview(of: CommandList.all).contains(command.summary))
    }

    @Test(arguments: commands) func everyOptionStandsOnceUnderATopic(_ name: String) throws {
        let options = try CommandList.find(name).specifications
        let groups = OptionTopic.groups(of: options)
        #expect(groups.flatMap(\.options).map(\.long).sorted() == options.map(\.long).sorted())
        guard groups.count > 1 else { return }
        let known = Set(OptionTopic.allCases.flatMap(\.options))
        for option in options { #expect(known.contains(option.long), "\(option.long) has no topic") }
    }

    @Test func everyNameOfATopicIsAnOption() {
        let names = Set(CommandList.all.flatMap { $0.specifications.map(\.long) })
        let known = OptionTopic.allCases.flatMap(\.options)
        #expect(Set(known).count == known.count)
        for name in known { #expect(names.contains(name), "\(name) is no option") }
    }

    @Test(arguments: commands) func everyExampleCanBeParsed(_ name: String) throws {
        let command = try CommandList.find(name)
        #expect(!command.examples.isEmpty)
        for example in command.examples {
            let start = try #require(example.indices.first { example[$0...].hasPrefix("carpool ") })
            _ = try Invocation.parse(HelpTextTests.words(String(example[start...].prefix { $0 != "|" })))
        }
    }

    @Test(arguments: commands) func everyPageQuotesTheHelp(_ name: String) throws {
        let page = try contents("docs/cli/\(name).md")
        #expect(page.contains(HelpText.of(try CommandList.find(name))), "docs/cli/\(name).md")
    }

    @Test func theIndexQuotesTheOverview() throws {
        #expect(try contents("docs/cli/index.md").contains(HelpText.overview(of: CommandList.all)))
    }

    @Test func theHelpIsJSONForThePages() throws {
        let invocation = try Invocation.parse(["help", "--json"])
        #expect((invocation.arguments as? HelpCommand.Arguments)?.isJSON == true)
        let help = try JSON.parse(HelpDocument.json(of: CommandList.all))
        #expect(help["commands"]?.count == CommandList.all.count)
        #expect(help["exit_codes"]?.count == ExitCode.allCases.count)
        #expect(help["commands"]?[index: 0]?["help"]?.string == HelpText.of(GetCommand.self))
    }

    /// As a shell would split a line that has single quotes alone.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        for (i, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
            words += i % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
        return Array(words.dropFirst())
    }

    private func contents(_ path: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        guard let file = fopen("/\(root)/\(path)", "r") else { throw UsageError("no page \(path)") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 100_000)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }
}
