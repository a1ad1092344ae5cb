import CarpoolSystem
import Testing

@testable import CarpoolCurl

/// The transfers of command lines. The expectations are what curl 8.14.1 does.
struct CurlPlanTests {
    private static func plan(_ words: [String]) throws -> CurlPlan {
        let line = try CurlLine.read(words)
        return CurlPlan(try line.invocation.operations.map { try CurlPreparedOperation($0, Environment([:])) })
    }

    private static func transfers(_ words: [String]) throws -> [CurlPlannedTransfer] {
        var plan = try plan(words)
        var transfers: [CurlPlannedTransfer] = []
        while let next = try plan.next() { transfers.append(next) }
        return transfers
    }

    /// The URLs before an error, and the error.
    private static func failure(_ words: [String]) throws -> (urls: [String], error: CurlError?) {
        var plan = try plan(words)
        var urls: [String] = []
        do throws(CurlError) {
            while let next = try plan.next() { urls.append(next.url) }
            return (urls, nil)
        } catch {
            return (urls, error)
        }
    }

    @Test func patternsAreCountedAndTheirURLsNumbered() throws {
        let transfers = try Self.transfers(["h/{a,b}", "h/c", "--next", "h/[1-2]"])
        #expect(transfers.map(\.url) == ["h/a", "h/b", "h/c", "h/1", "h/2"])
        #expect(transfers.map(\.number) == [0, 1, 2, 3, 4])
        #expect(transfers.map(\.urlNumber) == [0, 0, 1, 2, 2])
        #expect(transfers.map(\.isFirst) == [true, false, false, true, false])
    }

    @Test func eachFileIsUploadedToEachURL() throws {
        let transfers = try Self.transfers(["-T", "{x,y}", "h/[1-2]/"])
        #expect(transfers.map(\.url) == ["http://h/1/x", "http://h/2/x", "http://h/1/y", "http://h/2/y"])
        #expect(transfers.map(\.upload) == ["x", "x", "y", "y"])
        #expect(transfers.allSatisfy { $0.body == .upload && $0.urlNumber == 0 })
    }

    @Test func anEmptyNameIsNoUpload() throws {
        let transfers = try Self.transfers(["-T", "", "-T", "f", "h/a", "h/b", "h/c"])
        #expect(transfers.map(\.upload) == [nil, "f", nil])
        #expect(transfers.map(\.body) == [.none, .upload, .none])
        #expect(try Self.transfers(["-T", "", "-d", "a", "h"]).map(\.body) == [.post])
    }

    @Test func withoutGlobbingATextIsTheURL() throws {
        let transfers = try Self.transfers(["-g", "-T", "[f]", "h/[1-2]"])
        #expect(transfers.map(\.url) == ["h/[1-2]"])
        #expect(transfers.map(\.upload) == ["[f]"])
    }

    @Test func urlsOfAFileHaveNoPatterns() throws {
        let folder = try TemporaryFolder(["u": Array("h/[1-2]\nh/b\n".utf8)])
        let transfers = try Self.transfers(["--url", "@\(folder.path)/u", "h/[3-4]", "-o", "x"])
        #expect(transfers.map(\.url) == ["h/[1-2]", "h/b", "h/3", "h/4"])
        #expect(transfers.map(\.output) == [.file("x"), .remoteName, .standard, .standard])
    }

    @Test func queriesAreAddedToEachURL() throws {
        #expect(
            try Self.transfers(["-G", "-d", "a=b", "h/x?y", "h/z"]).map(\.url)
                == ["http://h/x?y&a=b", "http://h/z?a=b"])
        #expect(try Self.transfers(["--url-query", "a=b c", "h"]).map(\.url) == ["http://h/?a=b+c"])
    }

    @Test func outputsWithoutAURLAreAWarning() throws {
        var plan = try Self.plan(["-o", "a", "-o", "b", "-O", "h", "--next", "h/x", "-O", "-O"])
        var warnings: [[String]] = []
        while try plan.next() != nil { warnings.append(plan.warnings) }
        warnings.append(plan.warnings)
        #expect(warnings == [[], ["Got more output options than URLs"], []])
    }

    @Test(
        "A group of options without a URL is an error when its turn has come",
        arguments: [["h", "--next"], ["h", "--next", "-o", "f"], ["h", "-:", "-T", "f"]])
    func noURL(_ words: [String]) throws {
        let (urls, error) = try Self.failure(words)
        #expect(urls == ["h"])
        #expect(error == CurlError.noURL)
        #expect(error?.line == "curl: (2) no URL specified" && error?.form == .usage)
    }

    @Test(
        "A group has one kind of requests, which is checked when its turn has come",
        arguments: [
            (["-d", "a", "-I", "h"], [], "POST (-d, --data) and HEAD (-I, --head)"),
            (["-F", "a=b", "-d", "a", "h"], [], "POST (-d, --data) and multipart formpost (-F, --form)"),
            (["-d", "a", "-T", "f", "h"], [], "PUT (-T, --upload-file) and POST (-d, --data)"),
            (["-T", "", "-T", "f", "-d", "a", "h/1", "h/2"], ["h/1"], "PUT (-T, --upload-file) and POST (-d, --data)"),
            (["h/1", "--next", "-I", "-T", "f", "h/2"], ["h/1"], "PUT (-T, --upload-file) and HEAD (-I, --head)"),
            (["-G", "-d", "a", "-F", "b=c", "h"], [], "GET (-G, --get) and multipart formpost (-F, --form)"),
            (["-G", "-d", "a", "-T", "f", "h"], [], "PUT (-T, --upload-file) and GET (-G, --get)"),
        ] as [([String], [String], String)])
    func kinds(_ words: [String], _ before: [String], _ kinds: String) throws {
        let (urls, error) = try Self.failure(words)
        #expect(urls == before)
        #expect(error?.message == "You can only select one HTTP request method! You asked for both \(kinds).")
        #expect(error?.form == .warning && error?.exitCode == 2)
    }

    @Test("Kinds that go together", arguments: [["-G", "-d", "a", "-I", "h"], ["-I", "-G", "h"], ["-d", "a", "h"]])
    func noConflict(_ words: [String]) throws {
        #expect(try Self.failure(words).error == nil)
    }

    @Test func anErrorOfAPatternComesAfterTheURLsBefore() throws {
        let (urls, error) = try Self.failure(["h/a", "h/{b"])
        #expect(urls == ["h/a"])
        #expect(error?.exitCode == 3)
    }
}
