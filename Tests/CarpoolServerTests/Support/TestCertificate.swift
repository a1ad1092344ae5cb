/// A certificate that signs itself, for tests that only read it.
enum TestCertificate {
    static let pem = """
        -----BEGIN CERTIFICATE-----
        MIIBdTCCARugAwIBAgIUGchis2HYuUyETeZ1AzgtZ7RzEmswCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEVGVzdDAgFw0yNjExMjIwMDU0MjlaGA8yMTI2MTAyOTAwNTQy
        OVowDzENMAsGA1UEAwwEVGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHig
        bYiMhpv2UQsItyVSTIawCPL4A8o84dbIey9KkpVVQ70YiJQKZtaJ8O4d4G8TSFrx
        CzJaRX25HYIbr7pLuJOjUzBRMB0GA1UdDgQWBBSuShuKeWO60wxLx7wE5lrEDyL+
        eDAfBgNVHSMEGDAWgBSuShuKeWO60wxLx7wE5lrEDyL+eDAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIDqRUQ0o6l6XTvEGdrodK/FatGwrqaiuI6O8
        Vb3POLvpAiEA4VYRwYKKMn12eZwLBf1mD5tkdtiL94HpMjGM+VaEk4U=
        -----END CERTIFICATE-----
        """
}
