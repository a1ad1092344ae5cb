import CarpoolHTTP
import Testing

@testable import CarpoolServer

/// Authorities that are known by their text.
struct KnownTrustMaterialTests {
    private let known = KnownTrustMaterial()
    private let text = Array(TestCertificate.pem.utf8)

    private func names(
        _ content: TrustMaterialNames.Source.Content, _ kind: TrustMaterialNames.Kind = .authorities
    ) -> TrustMaterialNames {
        TrustMaterialNames(
            place: "params.trust", sources: [.init(place: "params.trust.ca_pem", content: content)], kind: kind)
    }

    @Test func aTextThatWasReadIsKnown() throws {
        #expect(known.authorities(names(.text(text))) == nil)
        var files = TrustMaterialFiles(known: known)
        guard case .success(.authorities(let read)) = files.material(names(.text(text))) else {
            Issue.record("the text was not read")
            return
        }
        guard case .authorities(let found)? = known.authorities(names(.text(text))) else {
            Issue.record("the text is not known")
            return
        }
        #expect(found.store === read.store)
        #expect(known.authorities(names(.text(text + [10]))) == nil, "one more byte is another text")
        #expect(known.authorities(names(.text(text), .lists)) == nil)
        #expect(known.authorities(names(.file("/file"))) == nil, "a file has to be opened")
    }

    @Test func theDigestOfALongTextIsComputedByAThread() throws {
        let long = text + Array(repeating: 10, count: 65_536)
        known.note(try TrustStore(pem: long))
        #expect(known.authorities(names(.text(long))) == nil)
    }

    @Test func aCallTakesWhatIsKnownAndLeavesTheRest() throws {
        known.note(try TrustStore(pem: text))
        let other = names(.text(text + [10]))
        var (calls, found) = (CallFileNames(trust: [names(.text(text)), other]), CallFiles.Found())
        calls.takeAuthorities(from: known, into: &found)
        #expect(calls.needWorker)
        #expect(calls.trust.map { $0.sources.count } == [1])
        #expect(Array(found.trust.keys) == ["params.trust"])
        calls = CallFileNames(trust: [names(.text(text))])
        calls.takeAuthorities(from: known, into: &found)
        #expect(!calls.needWorker)
    }

    @Test(
        "Paths are read only for a client that may name them, and only absolute ones",
        arguments: [("/a", true, 1), ("a", true, 0), ("/a", false, 0), ("a", false, 0)])
    func paths(_ path: String, _ mayName: Bool, _ count: Int) {
        let names = CallFileNames(trust: [names(.file(path)), names(.text(text))]).readable(byPath: mayName)
        #expect(names.trust.count == count + 1)
    }
}
