extension PolicyRow {
    static let day = "Date: \(CacheScene.date)"
    static let modified = "Last-Modified: Wed, 31 Dec 2025 00:00:00 GMT"

    static let freshness: [PolicyRow] = [
        PolicyRow(id: "HF-01 none", expected: "forward no_freshness"),
        PolicyRow(id: "HF-01 max-age", response: ["Cache-Control: max-age=3600"], expected: "serve fresh"),
        PolicyRow(id: "HF-01 stale", response: ["Cache-Control: max-age=2"], expected: "forward expired"),
        PolicyRow(
            id: "HF-01 not yet stale", response: ["Cache-Control: max-age=2"], seconds: 1.9, expected: "serve fresh"),
        PolicyRow(id: "HF-01 zero", response: ["Cache-Control: max-age=0"], seconds: 0, expected: "forward expired"),
        PolicyRow(
            id: "HF-01 s-maxage alone, private", response: ["Cache-Control: s-maxage=3600"],
            expected: "forward no_freshness"),
        PolicyRow(
            id: "HF-01 s-maxage longer, private", response: ["Cache-Control: s-maxage=3600, max-age=1"],
            expected: "forward expired"),
        PolicyRow(
            id: "HF-01 s-maxage, shared", response: ["Cache-Control: max-age=1, s-maxage=3600"], isShared: true,
            expected: "serve fresh"),
        PolicyRow(
            id: "HF-01 s-maxage shorter, shared",
            response: ["Cache-Control: max-age=3600", "Cache-Control: s-maxage=1"], isShared: true,
            expected: "forward expired"),
        PolicyRow(
            id: "HF-01 Expires", response: ["Expires: Thu, 01 Jan 2026 01:00:00 GMT", day], expected: "serve fresh"),
        PolicyRow(
            id: "HF-01 Expires past", response: ["Expires: Thu, 01 Jan 2015 01:00:00 GMT", day],
            expected: "forward expired"),
        PolicyRow(
            id: "HF-01 Expires now", response: ["Expires: \(CacheScene.date)", day], seconds: 0,
            expected: "forward expired"),
        PolicyRow(
            id: "HF-01 Expires before Date, both ahead",
            response: ["Expires: Thu, 01 Jan 2026 00:05:00 GMT", "Date: Thu, 01 Jan 2026 00:06:40 GMT"],
            expected: "forward expired"),
        PolicyRow(
            id: "HF-01 Expires, bad Date", response: ["Expires: Thu, 01 Jan 2026 00:00:10 GMT", "Date: foo"],
            expected: "serve fresh"),
        PolicyRow(
            id: "HF-01 Expires, Age, slow Date",
            response: ["Expires: Thu, 01 Jan 2026 00:00:10 GMT", "Date: Wed, 31 Dec 2025 23:59:50 GMT", "Age: 25"],
            seconds: 0, expected: "forward expired"),
        PolicyRow(
            id: "HF-01 Expires, Age, fast Date",
            response: ["Expires: Thu, 01 Jan 2026 00:00:20 GMT", "Date: Thu, 01 Jan 2026 00:00:10 GMT", "Age: 15"],
            seconds: 0, expected: "forward expired"),
        PolicyRow(
            id: "HF-01 max-age before Expires", response: ["Cache-Control: max-age=3600", "Expires: 0", day],
            expected: "serve fresh"),
        PolicyRow(
            id: "HF-01 max-age=0 before Expires",
            response: ["Cache-Control: max-age=0", "Expires: Thu, 01 Jan 2026 01:00:00 GMT", day],
            expected: "forward expired"),
        PolicyRow(
            id: "HF-02 differing", response: ["Cache-Control: max-age=1800, max-age=3600"], expected: "forward expired"),
        PolicyRow(id: "HF-02 negative", response: ["Cache-Control: max-age=-3600"], expected: "forward expired"),
        PolicyRow(id: "HF-04 Expires: 0", response: ["Expires: 0", day], expected: "forward expired"),
        PolicyRow(
            id: "HF-05 Age above max-age", response: ["Cache-Control: max-age=3600", "Age: 7200", "ETag: \"a\""],
            seconds: 0, expected: "validate expired"),
        PolicyRow(
            id: "HF-05 huge Age", response: ["Cache-Control: max-age=2147483648", "Age: 99999999999"], seconds: 0,
            expected: "forward expired"),
        PolicyRow(
            id: "HF-05 old Date", response: ["Cache-Control: max-age=3600", "Date: Wed, 31 Dec 2025 22:00:00 GMT"],
            seconds: 0, expected: "forward expired"),
        PolicyRow(
            id: "HF-05 clock set back", response: ["Cache-Control: max-age=3600"], seconds: -1,
            expected: "forward expired"),
        PolicyRow(
            id: "HV-07 no-cache", response: ["Cache-Control: max-age=3600, no-cache", "ETag: \"a\""],
            expected: "validate must_validate"),
        PolicyRow(
            id: "HV-07 no-cache without validator", response: ["Cache-Control: max-age=3600, no-cache"],
            expected: "forward must_validate"),
        PolicyRow(
            id: "HV-07 no-cache alone", response: ["Cache-Control: no-cache", "ETag: \"a\""],
            expected: "validate must_validate"),
        PolicyRow(
            id: "HV-07 stale-while-revalidate",
            response: ["Cache-Control: max-age=1, stale-while-revalidate=60", "ETag: \"a\""],
            expected: "background stale_while_revalidate"),
        PolicyRow(
            id: "HV-07 stale-while-revalidate over",
            response: ["Cache-Control: max-age=1, stale-while-revalidate=4", "ETag: \"a\""],
            seconds: 6, expected: "validate expired"),
        PolicyRow(
            id: "HV-07 swr, must-revalidate",
            response: ["Cache-Control: max-age=1, stale-while-revalidate=60, must-revalidate"],
            expected: "forward expired"),
        PolicyRow(
            id: "HV-07 swr, s-maxage", response: ["Cache-Control: s-maxage=1, stale-while-revalidate=60"],
            isShared: true, expected: "forward expired"),
    ]

    static let heuristic: [PolicyRow] =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map {
            PolicyRow(id: "HF-06 \($0)", response: [day, modified], status: $0, expected: "serve fresh")
        }
        + [201, 202, 302, 400, 403, 500, 502, 503, 504, 599].map {
            PolicyRow(
                id: "HF-06 \($0)", response: [day, modified], status: $0, expected: "refused not_cacheable_status")
        } + [
            PolicyRow(
                id: "HF-06 public", response: [day, modified, "Cache-Control: public"], status: 599,
                expected: "serve fresh"),
            PolicyRow(
                id: "HF-06 a tenth", response: [day, "Last-Modified: Wed, 31 Dec 2025 23:59:00 GMT"], seconds: 5.9,
                expected: "serve fresh"),
            PolicyRow(
                id: "HF-06 beyond a tenth", response: [day, "Last-Modified: Wed, 31 Dec 2025 23:59:00 GMT"], seconds: 6,
                expected: "validate expired"),
            PolicyRow(
                id: "HF-06 maximum", response: [day, "Last-Modified: Wed, 31 Dec 2003 23:59:00 GMT"], seconds: 3_600,
                expected: "validate expired"),
            PolicyRow(
                id: "HF-06 JSON", response: [day, modified, "Content-Type: application/json; charset=utf-8"],
                expected: "validate no_freshness"),
            PolicyRow(
                id: "HF-06 modified after Date", response: [day, "Last-Modified: Fri, 02 Jan 2026 00:00:00 GMT"],
                seconds: 0, expected: "validate expired"),
        ]

    static let demands: [PolicyRow] = [
        PolicyRow(id: "no-cache", request: ["Cache-Control: no-cache"], expected: "validate request_no_cache"),
        PolicyRow(id: "Pragma", request: ["Pragma: no-cache"], expected: "validate request_no_cache"),
        PolicyRow(id: "Pragma, another word", request: ["Pragma: foo"], expected: "serve fresh"),
        PolicyRow(
            id: "Pragma beside Cache-Control", request: ["Pragma: no-cache", "Cache-Control: x"],
            expected: "serve fresh"),
        PolicyRow(
            id: "max-age=0", request: ["Cache-Control: max-age=0"], seconds: 0, expected: "validate request_max_age"),
        PolicyRow(id: "max-age=1", request: ["Cache-Control: max-age=1"], expected: "validate request_max_age"),
        PolicyRow(id: "max-age=5", request: ["Cache-Control: max-age=5"], expected: "serve fresh"),
        PolicyRow(id: "min-fresh", request: ["Cache-Control: min-fresh=2000"], expected: "validate request_min_fresh"),
        PolicyRow(id: "min-fresh met", request: ["Cache-Control: min-fresh=1000"], expected: "serve fresh"),
        PolicyRow(id: "no-store", request: ["Cache-Control: no-store"], expected: "forward request_no_store"),
        PolicyRow(id: "only-if-cached", request: ["Cache-Control: only-if-cached"], expected: "serve fresh"),
        PolicyRow(
            id: "only-if-cached, stale", request: ["Cache-Control: only-if-cached"], seconds: 1_600,
            expected: "serve only_if_cached"),
        PolicyRow(
            id: "max-stale", request: ["Cache-Control: max-stale=1000"], seconds: 2_000, expected: "serve stale_allowed"
        ),
        PolicyRow(
            id: "max-stale exceeded", request: ["Cache-Control: max-stale=100"], seconds: 2_000,
            expected: "validate expired"),
        PolicyRow(
            id: "max-stale without limit", request: ["Cache-Control: max-stale"], seconds: 99_999,
            expected: "serve stale_allowed"),
        PolicyRow(
            id: "max-stale invalid", request: ["Cache-Control: max-stale=-1"], seconds: 2_000,
            expected: "validate expired"),
    ]

    static let stores: [PolicyRow] = [
        PolicyRow(
            id: "HC-01 no-store", response: ["Cache-Control: max-age=10, No-StOrE"], expected: "refused no_store"),
        PolicyRow(
            id: "HC-01 private, shared", response: ["Cache-Control: private, max-age=10"], isShared: true,
            expected: "refused private"),
        PolicyRow(id: "HC-01 private", response: ["Cache-Control: private, max-age=10"], expected: "serve fresh"),
        PolicyRow(
            id: "HC-01 304", response: ["Cache-Control: max-age=10"], status: 304,
            expected: "refused not_cacheable_status"),
        PolicyRow(
            id: "HC-01 206", response: ["Cache-Control: max-age=10"], status: 206,
            expected: "refused not_cacheable_status"),
        PolicyRow(
            id: "HC-02 known", response: ["Cache-Control: max-age=10, no-store, must-understand"],
            expected: "serve fresh"),
        PolicyRow(
            id: "HC-02 unknown", response: ["Cache-Control: max-age=10, no-store, must-understand"], status: 599,
            expected: "refused must_understand"),
        PolicyRow(
            id: "HK-05 star", response: ["Cache-Control: max-age=10", "Vary: Foo, *"], expected: "refused vary_star"),
    ]
}
