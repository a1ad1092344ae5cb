import CarpoolCaller
import CarpoolCurl
import CarpoolSystem
import Testing

@testable import CarpoolCLI

/// The pages of the manual are made from the same tables as the help.
struct ManualPageTests {
    @Test(arguments: [
        ("a-b", "a\\-b"), ("'%{x}\\n'", "\\(aq%{x}\\(rsn\\(aq"), (".TH", "\\&.TH"), ("~^`\"", "\\(ti\\(ha\\(ga\\(dq"),
        ("'x", "\\(aqx"), ("...", "\\&..."),
    ])
    func textHasNoMeaningForRoff(_ text: String, _ expected: String) {
        #expect(Roff.escaped(text) == expected)
    }

    @Test(arguments: CommandList.all.map { $0.name }) func aPageHasEveryOption(_ name: String) throws {
        let command = try CommandList.find(name)
        let page = ManualPage.of(command, version: "1.2.3")
        #expect(page.hasPrefix(".TH \"CARPOOL\\-\(Roff.escaped(name.uppercased()))\" 1 \"\" \"carpool 1.2.3\""))
        let options = name == "curl" ? CurlOptionTable.all.map { "--\($0.name)" } : command.specifications.map(\.long)
        for option in options { #expect(page.contains(Roff.escaped(option)), "\(option)") }
        for example in command.examples { #expect(page.contains(Roff.escaped(example))) }
        for title in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"] {
            #expect(page.contains(".SH \"\(title)\"\n"))
        }
    }

    @Test func anAlignedLineOfTheDescriptionIsAnEntry() {
        let page = ManualPage.of(DaemonCommand.self, version: "1")
        #expect(page.contains(".TP\n\\fBstop\\fR\nfinish the running requests, then end the daemon\n"))
    }

    @Test func theOverviewListsEveryCommand() {
        let page = ManualPage.overview(of: CommandList.all, version: "1")
        for command in CommandList.all { #expect(page.contains("\\fBcarpool\\-\(Roff.escaped(command.name))(1)\\fR")) }
    }

    @Test func helpPrintsAPageBeforeOrAfterTheName() throws {
        for words in [["help", "--man", "get"], ["help", "get", "--man"]] {
            let arguments = try Invocation.parse(words).arguments as? HelpCommand.Arguments
            #expect(arguments?.topic == "get")
            #expect(arguments?.isManual == true)
        }
        #expect(throws: UsageError.self) { try Invocation.parse(["help", "get", "post"]) }
    }
}
