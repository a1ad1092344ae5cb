import CarpoolCaller
import CarpoolClient
import CarpoolExchange
import Testing

@testable import CarpoolCLI

struct InvocationTests {
    private func request(_ line: String) throws -> RequestArguments { try request(words(line)) }

    private func request(_ words: [String]) throws -> RequestArguments {
        try parsed(words, as: RequestArguments.self)
    }

    private func parsed<Arguments>(_ words: [String], as type: Arguments.Type) throws -> Arguments {
        try #require(try Invocation.parse(words).arguments as? Arguments)
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    @Test(arguments: [
        ("get u", "GET"), ("head u", "HEAD"), ("post u", "POST"), ("put u", "PUT"), ("patch u", "PATCH"),
        ("delete u", "DELETE"), ("get -X PROPFIND u", "PROPFIND"), ("post u --request=MERGE", "MERGE"),
        ("put -XLINK u", "LINK"),
    ])
    func theCommandNamesTheMethodUnlessAnOptionDoes(_ line: String, _ method: String) throws {
        #expect(try request(line).method == method)
        #expect(try request(line).url == "http://u")
    }

    @Test func optionsMayStandAnywhereAndTogether() throws {
        let request = try request("--socket /s get -ifo out u --timeout 1.5 -sv --no-location --http2 --session a")
        #expect(request.printsHead && request.failsOnStatus && request.isVerbose)
        #expect(request.output == "out")
        #expect(request.timeoutMilliseconds == 1_500)
        #expect(request.socket == "/s")
        #expect(!request.followsRedirects)
        #expect(request.httpVersion == "2")
        #expect(request.session == "a")
    }

    @Test func retriesAreCounted() throws {
        #expect(try request("get u").retry.count == 0)
        #expect(try request("get --retry 3 u").retry.count == 3)
        for wrong in ["-1", "+1", "100", "x", ""] {
            #expect(throws: UsageError.self) { try Invocation.parse(["get", "--retry", wrong, "u"]) }
        }
    }

    @Test func aPriorityIsOneOfThree() throws {
        #expect(try request("get u").priority == nil)
        #expect(try request("get --priority low u").priority == "low")
        #expect(throws: UsageError("--priority takes high, normal or low, not 'urgent'", in: "get")) {
            try Invocation.parse(["get", "--priority", "urgent", "u"])
        }
    }

    @Test func fieldsMayStandInFiles() throws {
        let request = try request(["get", "-H", "@secrets", "-H", "A: 1", "-H@-", "u"])
        #expect(request.headers == [.file("secrets"), .field(RequestArguments.Field("A", "1")), .file("-")])
        #expect(throws: UsageError.self) { try Invocation.parse(["get", "-H", "@", "u"]) }
    }

    @Test func fieldsKeepTheirOrderAndTheirValues() throws {
        let request = try request(["get", "-H", "B: 1", "-HA:2", "--header", "B:  a: b ", "-H", "C:", "u"])
        let expected = [("B", "1"), ("A", "2"), ("B", "a: b "), ("C", "")].map {
            RequestArguments.Header.field(RequestArguments.Field($0.0, $0.1))
        }
        #expect(request.headers == expected)
    }

    @Test func bodiesComeFromTextFileOrInput() throws {
        #expect(try request("post -d text u").body == .text("text"))
        #expect(try request("post --data=@f u").body == .file("f"))
        #expect(try request("post -d@- u").body == .standardInput)
        #expect(try request("post --json {} u").isJSON)
        let empty = try request(["post", "-d", "", "u"])
        #expect(empty.body == .text(""))
    }

    @Test func bodiesAreUploadedStreamedOrFormsOfParts() throws {
        #expect(try request("put -T f u").body == .upload("f"))
        #expect(try request("put --upload-file=- u").body == .stream)
        let parts = try [FormPart("a=b"), FormPart("c=@d")]
        #expect(try request("post -F a=b -F c=@d u").body == .form(parts))
        for wrong in ["post -T f -d x u", "post -F a=b -T f u", "post -d x -F a=b u", "get -T f u"] {
            #expect(throws: UsageError.self) { try Invocation.parse(words(wrong)) }
        }
    }

    @Test func aBodyIsPrintedWhileItComesOrWrittenToAFile() throws {
        #expect(try !request("get u").isWhole)
        #expect(try request("get --whole u").isWhole)
        #expect(try request("get --stream u").isRawStream)
        #expect(try request("get u").streaming == nil)
        #expect(try request("get --stream u").streaming == nil)
        #expect(try request("get --stream --lines u").streaming == .lines)
        #expect(try request("post --sse --stream u").streaming == .events)
        #expect(try request("get -C - -o f u").resumes)
        let wrong = [
            "get --lines --sse u", "get --lines -o f u", "get --stream -o f u", "get -C - u", "get -C 5 -o f u",
            "head --stream u",
        ]
        for wrong in wrong {
            #expect(throws: UsageError.self) { try Invocation.parse(words(wrong)) }
        }
    }

    @Test func aURLWithoutASchemeIsHTTP() throws {
        for (word, url) in [
            ("a.test/b", "http://a.test/b"), ("a.test:80/x?u=ftp://c", "http://a.test:80/x?u=ftp://c"),
            ("HTTPS://a.test", "HTTPS://a.test"), ("a+b-c.1://d", "a+b-c.1://d"), ("1a://d", "http://1a://d"),
            ("a:b", "http://a:b"), ("/path", "/path"), ("://x", "http://://x"),
        ] {
            #expect(try request("get \(word)").url == url)
        }
    }

    @Test func theQueryIsAddedBeforeTheFragment() throws {
        #expect(try request("get --query a=b=c http://h/#f").completeURL == "http://h/?a=b%3Dc#f")
        #expect(try request("get --query a= --query b=~ http://h/?x").completeURL == "http://h/?x&a=&b=~")
        #expect(try request("get http://h/?x").completeURL == "http://h/?x")
        for wrong in ["=b", "a", ""] {
            #expect(throws: UsageError.self) { try Invocation.parse(["get", "--query", wrong, "u"]) }
        }
    }

    @Test func trustIsTheSystemsUnlessSaid() throws {
        #expect(try request("get u").trust == TrustArguments())
        #expect(try request("get -k u").trust.isInsecure)
        #expect(try request("get --cacert f u").trust.authorities == "f")
    }

    @Test func aDashIsStandardOutput() throws {
        #expect(try request("get -o - u").output == nil)
    }

    @Test func afterTwoDashesEverythingIsAnOperand() throws {
        #expect(try request("get -- -u").url == "http://-u")
    }

    @Test func helpIsFoundWhereverItIsAskedFor() throws {
        for line in ["get --help", "get -h u", "help get", "get u --help"] {
            #expect(try parsed(words(line), as: HelpCommand.Arguments.self).topic == "get")
        }
        #expect(try parsed(["--help"], as: HelpCommand.Arguments.self).topic == nil)
        #expect(try parsed(["help"], as: HelpCommand.Arguments.self).topic == nil)
        #expect(try Invocation.parse(["--version"]).command == VersionCommand.self)
        #expect(try Invocation.parse(["version"]).command == VersionCommand.self)
    }

    @Test func callsTakeStringsAndJSON() throws {
        let line = ["call", "a.b", "s=x=y \"", "n:=[1, 2.50]", "--socket", "/s"]
        let call = try parsed(line, as: CallCommand.Arguments.self)
        #expect(call.method == "a.b")
        #expect(call.socket == "/s")
        guard case .named(let parameters) = call.parameters else { throw UsageError("no parameters") }
        #expect(parameters.map(\.name) == ["s", "n"])
        #expect(parameters.map { String(decoding: $0.json, as: UTF8.self) } == [#""x=y \"""#, "[1,2.50]"])
        let piped = try parsed(["call", "a.b", "-"], as: CallCommand.Arguments.self)
        #expect(piped.parameters == .standardInput)
    }

    @Test func theDaemonsActionsAreKnown() throws {
        for action in DaemonCommand.Action.allCases {
            let daemon = try parsed(["daemon", action.rawValue], as: DaemonCommand.Arguments.self)
            #expect(daemon == DaemonCommand.Arguments(action: action, socket: nil))
        }
        let doctor = try Invocation.parse(["doctor", "--socket=/s"])
        #expect(doctor.command == DoctorCommand.self && doctor.arguments.socket == "/s")
        let openRPC = try Invocation.parse(["--socket", "/s", "openrpc"])
        #expect(openRPC.command == OpenRPCCommand.self && openRPC.arguments.socket == "/s")
    }

    @Test func whatIsWatched() throws {
        let all = try parsed(["watch"], as: WatchCommand.Arguments.self)
        #expect(all == WatchCommand.Arguments())
        #expect(all.scope == "all" && all.types.isEmpty)
        let line = "watch a.* --scope session:s b --state f -n 3 --timeout 1.5 --snapshot --pretty --socket /s"
        let some = try parsed(words(line), as: WatchCommand.Arguments.self)
        #expect(some.types == ["a.*", "b"])
        #expect(some.scope == "session:s" && some.stateFile == "f" && some.cursor == nil && some.socket == "/s")
        #expect(some.count == 3 && some.timeoutMilliseconds == 1_500 && some.wantsSnapshot && some.isPretty)
    }

    @Test func whichHostIsToBeReached() throws {
        let now = try parsed(words("reachability --fresh h --json"), as: ReachabilityArguments.self)
        let wait = try parsed(words("wait-online --timeout 2"), as: ReachabilityArguments.self)
        #expect(now.host == "h" && now.isFresh && now.isJSON && !now.watches)
        #expect(wait.host == nil && wait.timeoutMilliseconds == 2_000)
    }

    @Test(arguments: [
        ("", "command is required"), ("git u", "did you mean get"), ("get", "needs a URL"),
        ("get a -o", "needs a value"),
        ("get --fial u", "did you mean --fail"), ("get -d x u", "post"), ("head --json x u", "post"),
        ("get -Z u", "-Z is an option of carpool curl"), ("get --no-keepalive u", "is an option of carpool curl"),
        ("http://u/", "to fetch a URL use: carpool get URL"), ("example.com", "to fetch a URL use: carpool get URL"),
        ("get --max-redirs 65 u", "from 0 to 64"), ("get --max-redirs +1 u", "from 0 to 64"),
        ("get -o= u -o", "needs a value"), ("get --output= u", "--output is empty"),
        ("get -w @/nowhere/format u", "-w cannot read the file '/nowhere/format'"), ("get -H x u", "NAME: VALUE"),
        ("get -H :x u", "NAME: VALUE"),
        ("get u -H", "needs a value"), ("get --fail=yes u", "takes no value"), ("get --timeout soon u", "seconds"),
        ("get --timeout 0 u", "seconds"), ("get --timeout 1e9 u", "seconds"), ("get --timeout 0x1 u", "seconds"),
        ("get --timeout nan u", "seconds"), ("get --timeout 99999999999999999999 u", "seconds"),
        ("get -k --cacert f u", "exclude"), ("get --cacert f --capath d u", "--cacert and --capath exclude"),
        ("get --capath d -k u", "--capath and --insecure exclude"),
        ("get --pinnedpubkey= u", "--pinnedpubkey is empty"), ("get --pinnedpubkey ; u", "no pin"),
        ("get --pinnedpubkey sha256/abc u", "two slashes"),
        ("get --pinnedpubkey AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= u", "two slashes"),
        ("get --cacert= u", "is empty"), ("get --key= u", "is empty"), ("get --unix-socket= u", "is empty"),
        ("get --resolve= u", "is empty"), ("post -d a -d @b u", "one body"), ("post -d @ u", "name of a file"),
        ("get --socket= u", "needs a path"), ("call", "name of a method"), ("call m x", "NAME=VALUE"),
        ("call m =x", "NAME=VALUE"),
        ("call m a:={", "not JSON"), ("call m a=1 a=2", "twice"), ("call m - a=1", "standard input"),
        ("call m a=1 -", "cannot be combined"), ("daemon", "start, stop"), ("daemon fly", "not 'fly'"),
        ("daemon start stop", "not 'stop'"), ("doctor who else", "not also 'else'"), ("doctor -k", "requires a URL"),
        ("help gte", "did you mean get"),
        ("watch --scope me", "mine, all or session:NAME"), ("watch --scope session:", "session:NAME"),
        ("watch --count 0", "above 0"), ("watch --count +1", "above 0"),
        ("watch --since a.1 --state f", "where to begin"),
        ("watch --state=", "name of a file"), ("watch --timeout x", "seconds"),
        ("reachability a b", "at most one HOST"),
        ("reachability --fresh --watch", "beside it"), ("wait-online --watch", "reachability do"),
        ("wait-onlin", "did you mean wait-online"), ("--socket", "needs a value"),
        ("--nothing get u", "unknown option"),
    ])
    func mistakesAreNamed(_ line: String, _ words: String) {
        let error = #expect(throws: UsageError.self) { try Invocation.parse(self.words(line)) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "no error")")
    }
}
