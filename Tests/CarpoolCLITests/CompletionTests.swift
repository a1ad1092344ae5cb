import CarpoolCaller
import CarpoolCurl
import Testing

@testable import CarpoolCLI

/// The completions are made from the parser's tables.
struct CompletionTests {
    private static let tree = CompletionTree(CommandList.all)

    private static func option(_ name: String, of command: String) throws -> CompletionTree.Option {
        let found = try #require(tree.commands.first { $0.name == command })
        return try #require(found.options.first { $0.names.contains(name) }, "\(command) has no \(name)")
    }

    @Test func everyCommandAndOptionIsInTheTree() {
        #expect(CompletionTests.tree.commands.map(\.name) == CommandList.all.map { $0.name })
        for (command, completed) in zip(CommandList.all, CompletionTests.tree.commands) where command.name != "curl" {
            #expect(completed.options.map { "--\($0.long)" } == command.specifications.map(\.long))
        }
        let names = CompletionTests.tree.commands.first { $0.name == "curl" }?.options.map(\.long) ?? []
        for option in CurlOptionTable.all { #expect(names.contains(option.name)) }
    }

    @Test(arguments: [
        ("-o", "get", CompletionTree.Value.file), ("--capath", "get", .directory), ("-d", "post", .data),
        ("--cookie", "get", .file), ("--timeout", "get", .text),
        ("--scope", "watch", .words(["all", "mine", "session:"])),
        ("--pretty", "get", .words(["auto", "always", "never"])), ("-E", "curl", .file),
        ("--output-dir", "curl", .directory),
        ("-w", "curl", .data), ("-A", "curl", .text),
    ])
    func valuesAreOfTheirKinds(_ name: String, _ command: String, _ value: CompletionTree.Value) throws {
        #expect(try CompletionTests.option(name, of: command).value == value)
    }

    /// The options with fixed values, of the commands of requests and of watch; the parser takes each word.
    @Test func everyWordIsAValueThatTheParserTakes() throws {
        var count = 0
        for command in CompletionTests.tree.commands where ["get", "watch"].contains(command.name) {
            for option in command.options {
                guard case .words(let words) = option.value else { continue }
                for word in words {
                    let value = word.hasSuffix(":") ? word + "x" : word
                    var operands = command.name == "get" ? ["http://h/", "-o", "file"] : []
                    if option.long.hasPrefix("oauth2") {
                        operands += ["--oauth2-token-url", "http://h/", "--oauth2-client-id", "i"]
                    }
                    let pretty = option.long == "pretty" ? ["http://h/"] : operands
                    _ = try Invocation.parse([command.name, "--\(option.long)", value] + pretty)
                    count += 1
                }
            }
        }
        #expect(count > 20)
    }

    @Test func anOptionWithAnOppositeHasBothNames() throws {
        #expect(try CompletionTests.option("--no-clobber", of: "curl").placeholder == nil)
        #expect(try CompletionTests.option("-N", of: "curl").long == "no-buffer")
        let curl = try #require(CompletionTests.tree.commands.first { $0.name == "curl" })
        #expect(Set(curl.options.map(\.long)).count == curl.options.count)
    }

    @Test func theScriptsQuoteWhatTheirShellsReplace() {
        let option = CompletionTree.Option(
            long: "x", short: nil, placeholder: nil, value: .text, summary: "it's [a]: \\ $HOME")
        #expect(CompletionShell.quoted("it's") == "'it'\\''s'")
        let tree = CompletionTree(commands: [.init(name: "c", summary: "s", options: [option], operandWords: [])])
        #expect(ZshCompletion.script(tree).contains(#"'(--x)--x[it'\''s \[a\]\: \\ $HOME]'"#))
        #expect(FishCompletion.script(tree).contains(#"-l x -d 'it\'s [a]: \\ $HOME'"#))
        #expect(BashCompletion.script(tree).contains("options='--x'"))
    }

    @Test func aShellIsRequired() throws {
        let invocation = try Invocation.parse(["completion", "zsh"])
        #expect((invocation.arguments as? CompletionCommand.Arguments)?.shell == .zsh)
        for words in [["completion"], ["completion", "tcsh"], ["completion", "zsh", "fish"]] {
            #expect(throws: UsageError.self) { try Invocation.parse(words) }
        }
    }
}
