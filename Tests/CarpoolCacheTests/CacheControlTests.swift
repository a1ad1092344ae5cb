import Testing

@testable import CarpoolCache

struct CacheControlTests {
    private func control(_ lines: String...) -> CacheControl {
        var control = CacheControl()
        for line in lines { Array(line.utf8).withUnsafeBytes { control.add($0) } }
        return control
    }

    @Test(
        "HF-02: seconds of max-age",
        arguments: [
            ("max-age=3600", .seconds(3_600)), ("MaX-aGe=3600", .seconds(3_600)), ("foobar, max-age=1", .seconds(1)),
            ("max-age=003600", .seconds(3_600)), ("max-age=\"3600\"", .seconds(3_600)), ("max-age=0", .seconds(0)),
            ("max-age=2147483647", .seconds(2_147_483_647)), ("max-age=2147483648", .seconds(2_147_483_648)),
            ("max-age=2147483649", .seconds(2_147_483_648)), ("max-age=99999999999", .seconds(2_147_483_648)),
            ("max-age=-3600", .invalid), ("max-age=+1", .invalid), ("max-age='3600'", .invalid),
            ("max-age=3600.0", .invalid), ("max-age=3600a", .invalid), ("max-age=a3600", .invalid),
            ("max-age", .invalid), ("max-age=", .invalid), ("max-age =3600", .invalid), ("max-age= 3600", .invalid),
            ("max-age=1, max-age=1", .seconds(1)), ("max-age=1800, max-age=1", .invalid),
            ("extension=\"max-age=3600\", max-age=1", .seconds(1)),
            ("max-age=1, extension=\"max-age=3600\"", .seconds(1)), ("extension=\"a\\\", max-age=9\"", .absent),
            ("xmax-age=1", .absent), ("", .absent), (",,, ,", .absent), ("=5", .absent),
            ("extension=\"a, max-age=3600", .invalid), ("max-age=3600, e=\"", .invalid),
        ] as [(String, DeltaSeconds)])
    func seconds(line: String, expected: DeltaSeconds) {
        #expect(control(line).maxAge == expected)
    }

    @Test("HF-02: lines are one list, in which differing numbers are not valid")
    func lines() {
        #expect(control("max-age=1", "max-age=1").maxAge == .seconds(1))
        #expect(control("max-age=1800", "max-age=1").maxAge == .invalid)
        #expect(control("s-maxage=5", "max-age=1").sharedMaxAge == .seconds(5))
    }

    @Test("directives without a value, in any case")
    func flags() {
        let all = control(
            "No-StOrE, no-cache, public, private, must-revalidate, proxy-revalidate, must-understand, immutable, "
                + "only-if-cached, max-stale")
        let flags: [CacheControl.Flags] = [
            .noStore, .noCache, .isPublic, .isPrivate, .mustRevalidate, .proxyRevalidate, .mustUnderstand, .immutable,
            .onlyIfCached, .maxStale,
        ]
        for flag in flags { #expect(all.has(flag)) }
        #expect(control("xno-store, no-storex, \"no-store\"").flags.isEmpty)
        #expect(control("no-store=1").has(.noStore))
        #expect(control("ext=\"a, no-store").has(.noStore), "a string without an end hides nothing")
    }

    @Test("HC-05: fields that no-cache and private name")
    func fieldNames() {
        let named = control("no-cache=\"A, b\", private=\"Set-Cookie\", private=x")
        #expect(named.noCacheFields == [Array("a".utf8), Array("b".utf8)])
        #expect(named.privateFields == [Array("set-cookie".utf8), Array("x".utf8)])
        #expect(named.flags.isEmpty)
        #expect(control("no-cache=\"\"").has(.noCache))
        #expect(control("no-cache=\"a\", no-cache").has(.noCache))
    }

    @Test("hostile lines take linear time", .timeLimit(.minutes(1)))
    func hostile() {
        let big = 65_536
        for unit in [",", "max-age=1,", "\"", "\\\"", "a=\"\\", "no-cache=\"a\",", "=", " ", "\","] {
            _ = control(String(repeating: unit, count: big))
            _ = control("no-cache=\"" + String(repeating: unit, count: big))
        }
        let names = (0..<1_000).map { "n\($0)" }.joined(separator: ",")
        // Beyond a number of names it is the directive without names, which is stricter.
        for line in ["no-cache=\"\(names)\"", (0..<200).map { "no-cache=n\($0)" }.joined(separator: ",")] {
            #expect(control(line).noCacheFields.isEmpty && control(line).has(.noCache))
        }
        #expect(control("max-age=" + String(repeating: "9", count: 8_000)).maxAge == .seconds(2_147_483_648))
    }

    @Test("nothing is stored because of more directives than are read")
    func tooLong() {
        let long = "max-age=60, public, must-understand, " + String(repeating: "a, ", count: 4_000)
        for lines in [[long], ["max-age=60", long], Array(repeating: "max-age=60", count: 1_000)] {
            var control = CacheControl()
            for line in lines { Array(line.utf8).withUnsafeBytes { control.add($0) } }
            #expect(control.flags == .noStore)
            #expect(control.maxAge == .absent)
        }
    }
}
