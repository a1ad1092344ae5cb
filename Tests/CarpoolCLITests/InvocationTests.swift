import CarpoolClient
import Testing

@testable import CarpoolCLI

struct InvocationTests {
    private func request(_ line: String) throws -> RequestInvocation {
        guard case .request(let request) = try Invocation.parse(words(line)) else {
            throw UsageError("no request: \(line)")
        }
        return request
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    @Test(arguments: [
        ("get u", "GET"), ("head u", "HEAD"), ("post u", "POST"), ("put u", "PUT"), ("patch u", "PATCH"),
        ("delete u", "DELETE"), ("get -X PROPFIND u", "PROPFIND"), ("post u --request=MERGE", "MERGE"),
        ("put -XLINK u", "LINK"),
    ])
    func theCommandNamesTheMethodUnlessAnOptionDoes(_ line: String, _ method: String) throws {
        #expect(try request(line).method == method)
        #expect(try request(line).url == "u")
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
        #expect(try request("get u").retries == 0)
        #expect(try request("get --retry 3 u").retries == 3)
        for wrong in ["-1", "+1", "100", "x", ""] {
            #expect(throws: UsageError.self) { try Invocation.parse(["get", "--retry", wrong, "u"]) }
        }
    }

    @Test func aPriorityIsOneOfThree() throws {
        #expect(try request("get u").priority == nil)
        #expect(try request("get --priority low u").priority == "low")
        #expect(throws: UsageError("--priority takes high, normal or low, not 'urgent'", in: .get)) {
            try Invocation.parse(["get", "--priority", "urgent", "u"])
        }
    }

    @Test func fieldsMayStandInFiles() throws {
        let invocation = try Invocation.parse(["get", "-H", "@secrets", "-H", "A: 1", "-H@-", "u"])
        guard case .request(let request) = invocation else { throw UsageError("no request") }
        #expect(request.headers == [.file("secrets"), .field(RequestInvocation.Field("A", "1")), .file(nil)])
        #expect(throws: UsageError.self) { try Invocation.parse(["get", "-H", "@", "u"]) }
    }

    @Test func fieldsKeepTheirOrderAndTheirValues() throws {
        let invocation = try Invocation.parse(["get", "-H", "B: 1", "-HA:2", "--header", "B:  a: b ", "-H", "C:", "u"])
        guard case .request(let request) = invocation else { throw UsageError("no request") }
        let expected = [("B", "1"), ("A", "2"), ("B", "a: b "), ("C", "")].map {
            RequestInvocation.Header.field(RequestInvocation.Field($0.0, $0.1))
        }
        #expect(request.headers == expected)
    }

    @Test func bodiesComeFromTextFileOrInput() throws {
        #expect(try request("post -d text u").body == .text("text"))
        #expect(try request("post --data=@f u").body == .file("f"))
        #expect(try request("post -d@- u").body == .standardInput)
        #expect(try request("post --json {} u").isJSON)
        guard case .request(let empty) = try Invocation.parse(["post", "-d", "", "u"]) else { return }
        #expect(empty.body == .text(""))
    }

    @Test func bodiesAreUploadedStreamedOrFormsOfParts() throws {
        #expect(try request("put -T f u").body == .upload("f"))
        #expect(try request("put --upload-file=- u").body == .stream)
        let parts = try [FormPart("a=b", .post), FormPart("c=@d", .post)]
        #expect(try request("post -F a=b -F c=@d u").body == .form(parts))
        for wrong in ["post -T f -d x u", "post -F a=b -T f u", "post -d x -F a=b u", "get -T f u"] {
            #expect(throws: UsageError.self) { try Invocation.parse(words(wrong)) }
        }
    }

    @Test func aBodyIsPrintedWhileItComesOrWrittenToAFile() throws {
        #expect(try request("get u").streaming == nil)
        #expect(try request("get --stream u").streaming == .bytes)
        #expect(try request("get --stream --lines u").streaming == .lines)
        #expect(try request("post --sse --stream u").streaming == .events)
        #expect(try request("get -C - -o f u").resumes)
        for wrong in ["get --lines --sse u", "get --stream -o f u", "get -C - u", "get -C 5 -o f u", "head --stream u"]
        {
            #expect(throws: UsageError.self) { try Invocation.parse(words(wrong)) }
        }
    }

    @Test func trustIsTheSystemsUnlessSaid() throws {
        #expect(try request("get u").trust == .system)
        #expect(try request("get -k u").trust == .nobody)
        #expect(try request("get --cacert f u").trust == .certificates("f"))
    }

    @Test func aDashIsStandardOutput() throws {
        #expect(try request("get -o - u").output == nil)
    }

    @Test func afterTwoDashesEverythingIsAnOperand() throws {
        #expect(try request("get -- -u").url == "-u")
    }

    @Test func helpIsFoundWhereverItIsAskedFor() throws {
        for line in ["get --help", "get -h u", "help get", "get u --help"] {
            #expect(try Invocation.parse(words(line)) == .help(.get))
        }
        #expect(try Invocation.parse(["--help"]) == .help(nil))
        #expect(try Invocation.parse(["help"]) == .help(nil))
        #expect(try Invocation.parse(["--version"]) == .version)
        #expect(try Invocation.parse(["version"]) == .version)
    }

    @Test func callsTakeStringsAndJSON() throws {
        let line = ["call", "a.b", "s=x=y \"", "n:=[1, 2.50]", "--socket", "/s"]
        guard case .call(let call) = try Invocation.parse(line) else { throw UsageError("no call") }
        #expect(call.method == "a.b")
        #expect(call.socket == "/s")
        guard case .named(let parameters) = call.parameters else { throw UsageError("no parameters") }
        #expect(parameters.map(\.name) == ["s", "n"])
        #expect(parameters.map { String(decoding: $0.json, as: UTF8.self) } == [#""x=y \"""#, "[1,2.50]"])
        guard case .call(let piped) = try Invocation.parse(["call", "a.b", "-"]) else { return }
        #expect(piped.parameters == .standardInput)
    }

    @Test func theDaemonsActionsAreKnown() throws {
        for action in Invocation.DaemonAction.allCases {
            #expect(try Invocation.parse(["daemon", action.rawValue]) == .daemon(action, socket: nil))
        }
        #expect(try Invocation.parse(["doctor", "--socket=/s"]) == .doctor(socket: "/s"))
        #expect(try Invocation.parse(["--socket", "/s", "openrpc"]) == .openrpc(socket: "/s"))
    }

    @Test func whatIsWatched() throws {
        guard case .watch(let all) = try Invocation.parse(["watch"]) else { throw UsageError("no watch") }
        #expect(all == WatchInvocation())
        #expect(all.scope == "all" && all.types.isEmpty)
        let line = "watch a.* --scope session:s b --state f -n 3 --timeout 1.5 --snapshot --pretty --socket /s"
        guard case .watch(let some) = try Invocation.parse(words(line)) else { throw UsageError("no watch") }
        #expect(some.types == ["a.*", "b"])
        #expect(some.scope == "session:s" && some.stateFile == "f" && some.cursor == nil && some.socket == "/s")
        #expect(some.count == 3 && some.timeoutMilliseconds == 1_500 && some.wantsSnapshot && some.isPretty)
    }

    @Test func whichHostIsToBeReached() throws {
        guard case .reachability(let now) = try Invocation.parse(words("reachability --fresh h --json")),
            case .waitOnline(let wait) = try Invocation.parse(words("wait-online --timeout 2"))
        else { throw UsageError("no reachability") }
        #expect(now.host == "h" && now.isFresh && now.isJSON && !now.watches)
        #expect(wait.host == nil && wait.timeoutMilliseconds == 2_000)
    }

    @Test(arguments: [
        ("", "command is missing"), ("git u", "did you mean get"), ("get", "needs a URL"), ("get a b", "one URL"),
        ("get --fial u", "did you mean --fail"), ("get -d x u", "post"), ("head --json x u", "post"),
        ("get -Z u", "unknown option -Z"), ("get -H x u", "NAME: VALUE"), ("get -H :x u", "NAME: VALUE"),
        ("get u -H", "needs a value"), ("get --fail=yes u", "takes no value"), ("get --timeout soon u", "seconds"),
        ("get --timeout 0 u", "seconds"), ("get --timeout 1e9 u", "seconds"), ("get --timeout 0x1 u", "seconds"),
        ("get --timeout nan u", "seconds"), ("get --timeout 99999999999999999999 u", "seconds"),
        ("get -k --cacert f u", "exclude"), ("post -d a -d b u", "one body"), ("post -d @ u", "name of a file"),
        ("get --socket= u", "needs a path"), ("call", "name of a method"), ("call m x", "NAME=VALUE"),
        ("call m =x", "NAME=VALUE"),
        ("call m a:={", "not JSON"), ("call m a=1 a=2", "twice"), ("call m - a=1", "standard input"),
        ("call m a=1 -", "stands for all"), ("daemon", "start, stop"), ("daemon fly", "not 'fly'"),
        ("daemon start stop", "not 'stop'"), ("doctor who", "takes no 'who'"), ("help gte", "did you mean get"),
        ("watch --scope me", "mine, all or session:NAME"), ("watch --scope session:", "session:NAME"),
        ("watch --count 0", "above 0"), ("watch --count +1", "above 0"),
        ("watch --since a.1 --state f", "where to begin"),
        ("watch --state=", "name of a file"), ("watch --timeout x", "seconds"), ("reachability a b", "one host"),
        ("reachability --fresh --watch", "beside it"), ("wait-online --watch", "reachability do"),
        ("wait-onlin", "did you mean wait-online"), ("--socket", "needs a value"),
        ("--nothing get u", "unknown option"),
    ])
    func mistakesAreNamed(_ line: String, _ words: String) {
        let error = #expect(throws: UsageError.self) { try Invocation.parse(self.words(line)) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "no error")")
    }
}
